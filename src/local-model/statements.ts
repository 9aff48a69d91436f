/**
 * Passages of statements: `The color of the door is red.`, `The door's color is red.`, `color of the door: red`. Which word is what
 * follows from the form alone; no word of it is known.
 */
import { wordsOf } from './words.js';

export interface Statement {
  /** What is said of the subject: `color`. */
  attribute: string;
  subject: string;
  value: string;
  /** The whole sentence, without its full stop. */
  text: string;
}

/** Fewer are no passage. */
const fewest = 2;
const maxSentence = 300;
const maxStatements = 2_000;
const says = [' is ', ' are ', ': '];

/** The statements of a text, none where it has fewer than two, and its other sentences. */
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
  const [at, sign] = firstOf(text, says);
  if (at < 0) return null;
  const [key, value] = [text.slice(0, at), text.slice(at + sign.length).trim()];
  const [cut, between] = firstOf(key, [' of ', "'s ", '’s ']);
  if (cut < 0 || value === '' || value.endsWith('?')) return null;
  const [before, behind] = [key.slice(0, cut), key.slice(cut + between.length)].map(withoutArticle) as [string, string];
  const [attribute, subject] = between === ' of ' ? [before, behind] : [behind, before];
  return attribute === '' || subject === '' ? null : { attribute, subject, value, text };
}

/** Without the sign of a list item and the full stop. */
function plain(sentence: string): string {
  return sentence
    .trim()
    .replace(/^[-*•]\s+/, '')
    .replace(/[.;]$/, '');
}

function firstOf(text: string, signs: readonly string[]): [at: number, sign: string] {
  const found = signs.map((sign): [number, string] => [text.indexOf(sign), sign]).filter(([at]) => at >= 0);
  return found.sort(([left], [right]) => left - right)[0] ?? [-1, ''];
}

function withoutArticle(text: string): string {
  return text.trim().replace(/^(?:the|an?)\s+/i, '');
}

/** A text's words with a blank around each, in which `names` looks. */
export function spaced(text: string): string {
  return ` ${wordsOf(text).join(' ')} `;
}

/** The place in a `spaced` text where a name stands as a whole; -1: nowhere. */
export function placeOf(name: string, text: string): number {
  const words = wordsOf(name);
  return words.length === 0 ? -1 : text.indexOf(` ${words.join(' ')} `);
}

/** Of the subjects that the statements are about the one that a text names first; of several there the longest; null: none. */
export function firstNamed(statements: readonly Statement[], text: string): string | null {
  const where = spaced(text);
  let first: { subject: string; at: number } | null = null;
  for (const subject of new Set(statements.map((one) => one.subject))) {
    const at = placeOf(subject, where);
    if (at < 0 || (first && (at > first.at || (at === first.at && subject.length <= first.subject.length)))) continue;
    first = { subject, at };
  }
  return first?.subject ?? null;
}

/** Whether two texts are the same by their words. */
export function sameWords(one: string, other: string): boolean {
  return spaced(one) === spaced(other);
}
