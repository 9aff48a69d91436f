/**
 * Numbers of a JSON text that a double would change: those that are no double and do not have the
 * digits that a language prints for theirs (at most 17).
 */
import { endOfString } from './json.js';

/** A number of a text that a double would change. */
export interface InexactNumber {
  at: number;
  literal: string;
}

const [quote, zero, nine] = [34, 48, 57];
const doubleDigits = 17;

export function* inexactNumbers(text: string): Generator<InexactNumber> {
  // Most texts have no long number.
  if (!/\d[\d.]{15}/.test(text)) return;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code >= zero && code <= nine) {
      const start = text[at - 1] === '-' ? at - 1 : at;
      const end = endOfNumber(text, at);
      const literal = text.slice(start, end);
      if (!isExact(literal)) yield { at: start, literal };
      at = end - 1;
    }
  }
}

const inNumber = new Set([...'0123456789.eE+-'].map((char) => char.charCodeAt(0)));

/** A loop: a match of megabytes may overflow the stack of a regular expression. */
function endOfNumber(text: string, from: number): number {
  let end = from;
  while (inNumber.has(text.charCodeAt(end))) end += 1;
  return end;
}

function isExact(literal: string): boolean {
  const digits = significant(literal);
  const value = Number(literal);
  if (digits.length < doubleDigits - 1 || !Number.isFinite(value)) return true;
  if (/^-?\d+$/.test(literal) && BigInt(literal) === BigInt(value)) return true;
  const written = [String(value), ...(digits.length <= doubleDigits ? [value.toPrecision(digits.length)] : [])];
  return written.some((text) => significant(text) === digits);
}

/** The digits from the first to the last that is not 0. */
function significant(literal: string): string {
  const [mantissa] = literal.toLowerCase().split('e');
  const digits = mantissa!.replaceAll(/[^\d]/g, '');
  let [start, end] = [0, digits.length];
  while (digits[start] === '0') start += 1;
  while (end > start && digits[end - 1] === '0') end -= 1;
  return digits.slice(start, end);
}

/** The path of a number within the JSON text. */
export function pathOfNumber(text: string, { at, literal }: InexactNumber): string[] {
  const marker = `number at ${at} `.padEnd(64, '#');
  const marked: unknown = JSON.parse(`${text.slice(0, at)}${JSON.stringify(marker)}${text.slice(at + literal.length)}`);
  return findPath(marked, marker) ?? [];
}

function findPath(value: unknown, marker: string): string[] | null {
  if (value === marker) return [];
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    const path = findPath(inner, marker);
    if (path) return [name, ...path];
  }
  return null;
}

/** The text with whole numbers that a double would change as texts. */
export function quoteLongIntegers(text: string): string {
  let [quoted, end] = ['', 0];
  for (const { at, literal } of inexactNumbers(text)) {
    if (/[.e]/i.test(literal)) continue;
    quoted += `${text.slice(end, at)}"${literal}"`;
    end = at + literal.length;
  }
  return quoted + text.slice(end);
}

/** The refusal of such a number, as a predicate. */
export function inexactProblem({ literal }: InexactNumber): string {
  const shown = literal.length > 40 ? `${literal.slice(0, 40)}…` : literal;
  return `is ${shown}, which has more digits than a number keeps; write it as a string: "${shown}"`;
}
