/**
 * Passages of statements: `The color of the door is red.` or `The door's color is red.`, recognized
 * by form alone.
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

/** The statements of a text (none below the minimum), and its other sentences. */
export function readStatements(text: string): { statements: Statement[]; rest: string } {
  const statements: Statement[] = [];
  const rest: string[] = [];
  for (const sentence of text.split(/\n|(?<=[.;?!])[ \t]/)) {
    const read = sentence.length > maxSentence ? null : readStatement(sentence.trim().replace(/[.;]$/, ''));
    if (read && statements.length < maxStatements) statements.push(read);
    else rest.push(sentence);
  }
  return statements.length < fewest ? { statements: [], rest: text } : { statements, rest: rest.join('\n').trim() };
}

const ofSubject = /^(?:the |an? )?(?<attribute>.+?) of (?:the |an? )?(?<subject>.+?) is (?<value>.+)$/i;
const subjectFirst = /^(?:the |an? )?(?<subject>.+?)['’]s (?<attribute>.+?) is (?<value>.+)$/i;

function readStatement(text: string): Statement | null {
  const { attribute, subject, value } = (ofSubject.exec(text) ?? subjectFirst.exec(text))?.groups ?? {};
  return attribute && subject && value && !value.endsWith('?') ? { attribute, subject, value, text } : null;
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
  const named = [...new Set(statements.map(({ subject }) => subject))]
    .map((subject) => ({ subject, at: indexOfName(subject, where) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at || b.subject.length - a.subject.length);
  return named[0]?.subject ?? null;
}

/** Whether two texts have the same words. */
export function sameWords(a: string, b: string): boolean {
  return spaced(a) === spaced(b);
}
