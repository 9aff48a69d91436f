/**
 * Passages of statements: `The color of the door is red.`, `The door's color is red.`, `color of
 * the door: red`. They are recognized by form alone.
 */
import { splitWords } from './words.js';

export interface Statement {
  /** The attribute: `color`. */
  attribute: string;
  subject: string;
  value: string;
  /** The whole sentence without its full stop. */
  text: string;
}

/** The minimum of a passage. */
const fewest = 2;
const maxSentence = 300;
const maxStatements = 2_000;
const says = [' is ', ' are ', ': '];

/** The statements of a text (none below the minimum), and its other sentences. */
export function readStatements(text: string): { statements: Statement[]; rest: string } {
  const statements: Statement[] = [];
  const rest: string[] = [];
  for (const sentence of text.split(/\n|(?<=[.;?!])[ \t]/)) {
    const read = sentence.length > maxSentence ? null : readStatement(plain(sentence));
    if (read && statements.length < maxStatements) statements.push(read);
    else rest.push(sentence);
  }
  return statements.length < fewest ? { statements: [], rest: text } : { statements, rest: rest.join('\n').trim() };
}

function readStatement(text: string): Statement | null {
  const [at, sign] = firstSubject(text, says);
  if (at < 0) return null;
  const [key, value] = [text.slice(0, at), text.slice(at + sign.length).trim()];
  const [cut, between] = firstSubject(key, [' of ', "'s ", '’s ']);
  if (cut < 0 || value === '' || value.endsWith('?')) return null;
  const [before, behind] = [key.slice(0, cut), key.slice(cut + between.length)].map(withoutArticle) as [string, string];
  const [attribute, subject] = between === ' of ' ? [before, behind] : [behind, before];
  return attribute === '' || subject === '' ? null : { attribute, subject, value, text };
}

/** Without bullet and full stop. */
function plain(sentence: string): string {
  return sentence
    .trim()
    .replace(/^[-*•]\s+/, '')
    .replace(/[.;]$/, '');
}

function firstSubject(text: string, signs: readonly string[]): [at: number, sign: string] {
  const found = signs.map((sign): [number, string] => [text.indexOf(sign), sign]).filter(([at]) => at >= 0);
  return found.sort(([left], [right]) => left - right)[0] ?? [-1, ''];
}

function withoutArticle(text: string): string {
  return text.trim().replace(/^(?:the|an?)\s+/i, '');
}

/** A text's words, each between blanks, for whole-word search. */
export function spaced(text: string): string {
  return ` ${splitWords(text).join(' ')} `;
}

/** Index of a whole name in a `spaced` text; -1: absent. */
export function indexOfName(name: string, text: string): number {
  const words = splitWords(name);
  return words.length === 0 ? -1 : text.indexOf(` ${words.join(' ')} `);
}

/** The subject that a text names first, ties: the longest; null: none. */
export function firstNamed(statements: readonly Statement[], text: string): string | null {
  const where = spaced(text);
  let first: { subject: string; at: number } | null = null;
  for (const subject of new Set(statements.map((statement) => statement.subject))) {
    const at = indexOfName(subject, where);
    if (at < 0 || (first && (at > first.at || (at === first.at && subject.length <= first.subject.length)))) continue;
    first = { subject, at };
  }
  return first?.subject ?? null;
}

/** Whether two texts have the same words. */
export function sameWords(a: string, b: string): boolean {
  return spaced(a) === spaced(b);
}
