/** Edits as lines of a list, and as the text of a pull request. */
import { cutWithin } from '../../../util/text.js';
import { lineKey, type EditKind } from './align.js';
import { wordPieces } from './words.js';

/** An edit, as the API shows it. */
export interface ShownEdit {
  kind: EditKind;
  component: string;
  before: string | null;
  after: string | null;
}

/** What speaks for the edits of a candidate, as the API shows it. */
export interface ShownAuthor {
  candidate_id: string;
  is_baseline: boolean;
  is_given: boolean;
  feedback: readonly { seed: number | null }[];
  feedback_total: number;
  /** All edits that it made; its feedback and rows are of them together. */
  num_edits: number;
  rows: { compared: number; won: number; lost: number } | null;
}

const signs = { added: '+', removed: '−', changed: '~', moved: '↕' } as const satisfies Record<EditKind, string>;

export const signOf = (kind: EditKind): string => signs[kind];

/** Rows that are named. */
const mostRows = 3;

/** Whether an author made several edits: the rows it won belong to all of them. */
export const hasSeveral = ({ num_edits: edits }: Pick<ShownAuthor, 'num_edits'>): boolean => edits > 1;

/** `+ records_desk: app, old, street — #168, from row 171; +3 rows, −0` */
export function editLine(edit: ShownEdit, author: ShownAuthor | null): string {
  const why = author === null ? '' : ` — ${authorText(author)}`;
  return `${signOf(edit.kind)} ${editText(edit)}${why}`;
}

/** The lines of all edits, each with its component where there are several. */
export function changeLines({
  edits,
  authors,
}: {
  edits: readonly (ShownEdit & { author_id?: string | null })[];
  authors: readonly ShownAuthor[];
}): string[] {
  const known = new Map(authors.map((author) => [author.candidate_id, author]));
  const areSeveral = new Set(edits.map(({ component }) => component)).size > 1;
  return edits.map((edit) => {
    const line = editLine(edit, known.get(edit.author_id ?? '') ?? null);
    return areSeveral ? `${edit.component} ${line}` : line;
  });
}

/** Of authors with several edits: `#15: 3 edits together, from row 96; +3 rows, −0`. */
export function togetherLines({
  edits,
  authors,
}: {
  edits: readonly { author_id?: string | null }[];
  authors: readonly ShownAuthor[];
}): string[] {
  const named = new Set(edits.map(({ author_id: id }) => id));
  return authors
    .filter((author) => hasSeveral(author) && named.has(author.candidate_id))
    .map((author) => {
      const text = `${nameOf(author)}: ${author.num_edits} edits together`;
      return `${text}${evidenceText(author)}`;
    });
}

/** Characters of a text, and of equal words beside a change, that a line shows. */
const mostShown = 1_000;
const shownBeside = 80;

/** Equal words with their middle left out; the ends at a change stay. */
function sameText(text: string, at: number, pieces: number): string {
  if (text.length <= 3 * shownBeside) return text;
  const [before, after] = [text.slice(0, shownBeside), text.slice(-shownBeside)];
  return `${at === 0 ? '' : before}…${at === pieces - 1 ? '' : after}`.toWellFormed();
}

/** The text of an edit on one line; changed words as `[-old-]` and `{+new+}`. */
function editText({ kind, before, after }: ShownEdit): string {
  const text =
    kind === 'changed'
      ? wordPieces(before!, after!)
          .map(({ kind: of, text }, at, { length }) => markOf[of](of === 'same' ? sameText(text, at, length) : text))
          .join('')
      : cutWithin((after ?? before)!, mostShown);
  const line = text.replace(/\s+/g, ' ').trim();
  const key = kind === 'changed' ? null : lineKey(line);
  const bare = line.replace(/^(?:[-*•+]|\d{1,3}[.)])\s+/, '');
  return key !== null && bare.toLowerCase().startsWith(`${key}:`)
    ? `\`${bare.slice(0, key.length)}\`${bare.slice(key.length)}`
    : bare;
}

const markOf = {
  same: (text: string) => text,
  added: (text: string) => `{+${text}+}`,
  removed: (text: string) => `[-${text}-]`,
};

/** `#168, from row 171; +3 rows, −0`, or `#15, one of its 3 edits` */
function authorText(author: ShownAuthor): string {
  if (author.is_baseline) return 'baseline';
  return `${nameOf(author)}${hasSeveral(author) ? `, one of its ${author.num_edits} edits` : evidenceText(author)}`;
}

const nameOf = ({ candidate_id: id }: ShownAuthor) => `#${numberIn(id)}`;

/** `, from row 171; +3 rows, −0` */
function evidenceText(author: ShownAuthor): string {
  const rows = rowsText(author.rows);
  const from = author.is_given ? ', by a person' : feedbackText(author);
  return `${from}${rows === null ? '' : `; ${rows}`}`;
}

/** `+3 rows, −0`; null: none was compared. */
export function rowsText(rows: ShownAuthor['rows']): string | null {
  if (rows === null || rows.compared === 0) return null;
  return `+${rows.won} ${rows.won === 1 ? 'row' : 'rows'}, −${rows.lost}`;
}

function feedbackText({ feedback, feedback_total: total }: ShownAuthor): string {
  const seeds = [...new Set(feedback.flatMap(({ seed }) => seed ?? []))].slice(0, mostRows);
  if (seeds.length === 0) return '';
  const others = total - seeds.length;
  const more = others > 0 ? ` and ${others} more` : '';
  return `, from ${seeds.length + others === 1 ? 'row' : 'rows'} ${seeds.join(', ')}${more}`;
}

const numberIn = (candidateId: string) => candidateId.slice(candidateId.lastIndexOf('_') + 1);

/** An edit with its author, and what an evaluation without it shows. */
export interface ReportedEdit {
  edit: ShownEdit;
  author: ShownAuthor | null;
  ablation: string | null;
}

/** A pull request in Markdown: its title, the edits, the verdict, and how to see them again. */
export function pullRequestText(report: {
  title: string;
  edits: readonly ReportedEdit[];
  verdict: string | null;
  commands: readonly string[];
}): string {
  const rows = report.edits.map(({ edit, author, ablation }) => {
    const cells = [signOf(edit.kind), editText(edit), author === null ? '' : authorText(author), ablation ?? ''];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const authors = new Map(report.edits.flatMap(({ author }) => (author ? [[author.candidate_id, author]] : [])));
  const together = togetherLines({
    edits: [...authors.keys()].map((id) => ({ author_id: id })),
    authors: [...authors.values()],
  });
  return [
    report.title,
    '',
    ...(report.verdict === null ? [] : [report.verdict, '']),
    ...(rows.length === 0
      ? ['The prompt is unchanged.']
      : ['|     | Edit | Evidence | Without it |', '| --- | --- | --- | --- |', ...rows]),
    '',
    ...(together.length === 0 ? [] : [...together.map((line) => `- ${line}`), '']),
    '```sh',
    ...report.commands,
    '```',
    '',
  ].join('\n');
}
