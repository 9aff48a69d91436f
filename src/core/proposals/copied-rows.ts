/**
 * Rows that a proposed text copies from the examples of its question. Rows belong into
 * demonstrations, with their right answers, where they are counted and can be removed.
 */

/** An example of the question; `expected`: its right answer, if known. */
export interface ShownRow {
  input: string;
  expected?: string | null;
}

/** Words in a row that no rule repeats by chance. */
const copiedWords = 8;

/** A text without the lines that copy rows, and what they copy. */
export interface WithoutCopies {
  text: string;
  /** Inputs of the rows, each once. */
  copied: string[];
}

/**
 * Drops the lines of a text, beyond those of its parent, that repeat eight words of a row in
 * sequence, or that show a short row with an answer which is not its own. Words that several rows
 * share are no copy: a list of labels, the form of a question.
 */
export function withoutCopies(text: string, parent: string, rows: readonly ShownRow[]): WithoutCopies {
  const known = new Set(parent.split('\n').map((line) => line.trim()));
  const own = ownRuns(rows, parent);
  const copied = new Set<string>();
  const lines = text.split('\n');
  const kept = lines.filter((line, index) => {
    if (line.trim() === '' || known.has(line.trim())) return true;
    const row = rows.find((row, at) => repeats(line, own[at]!) || isAnsweredWrong(lines, index, row));
    if (row === undefined) return true;
    copied.add(row.input);
    return false;
  });
  if (copied.size === 0) return { text, copied: [] };
  return { text: withoutEmptyLists(kept).join('\n').trim(), copied: [...copied] };
}

/** The runs of words of each row that no other row has, nor the parent. */
function ownRuns(rows: readonly ShownRow[], parent: string): Set<string>[] {
  const runs = rows.map(({ input }) => runsOf(input));
  const counts = new Map<string, number>();
  for (const each of runs) for (const run of each) counts.set(run, (counts.get(run) ?? 0) + 1);
  const before = runsOf(parent);
  // Of a single row nothing tells its own words from those of the form.
  const isOwn = (run: string) => rows.length > 1 && counts.get(run) === 1 && !before.has(run);
  return runs.map((each) => new Set([...each].filter(isOwn)));
}

function repeats(line: string, own: ReadonlySet<string>): boolean {
  return own.size > 0 && [...runsOf(line)].some((run) => own.has(run));
}

function runsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.slice(copiedWords - 1).map((_, at) => words.slice(at, at + copiedWords).join(' ')));
}

/** What stands between an input and its answer, on the same line or the next. */
const leadsToAnswer = /^["'`*_»”’)\]]*\s*(?:->|=>|→|⇒|=|:|becomes\b|is\b|gives\b|returns\b|should be\b)\s*\S/u;
const answerLine = /^\s*(?:[>*-]\s*)?(?:answer|output|expected|result|response|a)\b[^:\n]{0,20}:/iu;

/** Whether the line shows a row's whole input, and then another answer than its own. */
function isAnsweredWrong(lines: readonly string[], index: number, { input, expected }: ShownRow): boolean {
  const shown = input.trim();
  if (!expected || shown.length < 2 || shown.includes('\n')) return false;
  const line = lines[index]!;
  const at = indexOfWhole(line, shown);
  if (at < 0) return false;
  const rest = line.slice(at + shown.length);
  const next = lines[index + 1] ?? '';
  if (leadsToAnswer.test(rest)) return indexOfWhole(rest, expected.trim()) < 0;
  return answerLine.test(next) && indexOfWhole(next, expected.trim()) < 0;
}

/** Where `part` stands in `text`, not inside of a longer word or number; -1: nowhere. */
function indexOfWhole(text: string, part: string): number {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    const [before, behind] = [text.slice(0, at), text.slice(at + part.length)];
    if (!/[\p{L}\p{N}][.,]?$/u.test(before) && !/^[.,]?[\p{L}\p{N}]/u.test(behind)) return at;
  }
  return -1;
}

/** Without titles of examples that nothing follows. */
function withoutEmptyLists(lines: readonly string[]): string[] {
  const title = /^[\s#*_>-]*(?:(?:here are|for|some|the)\s+)?(?:an?\s+)?(?:few\s+)?examples?\b[^.]{0,40}:[\s*_]*$/iu;
  return lines.filter((line, index) => {
    if (!title.test(line)) return true;
    const following = lines.slice(index + 1).find((next) => next.trim() !== '');
    return following !== undefined && !/^#{1,6}\s/.test(following);
  });
}
