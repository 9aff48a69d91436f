/** Values of promptfoo's assertions as patterns of RE2. */
import { canonicalJson, isObject } from '../../../util/json.js';
import { compilePattern } from '../../../util/linear-regex.js';

export const escape = (value: unknown) => textOf(value).replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
export const textOf = (value: unknown) =>
  typeof value === 'object' && value !== null ? canonicalJson(value) : String(value);
/** A text is a list with commas; quotes keep one together, as in promptfoo. */
export function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  // eslint-disable-next-line regexp/no-super-linear-move -- the user's own file
  const fields = textOf(value).matchAll(/[\s,]*(?:"((?:\\["\\]|""|[^"])*)"\s*(?=,|$)|([^,]+))/g);
  return [...fields]
    .map(([, quoted, plain]) => quoted?.replaceAll(/\\(["\\])|""/g, (_, sign?: string) => sign ?? '"') ?? plain!.trim())
    .filter((one) => one !== '');
}

/** Values whose orders a pattern writes out. */
export const maxOrdered = 4;

/** A pattern for all values, in any order; null: too many, or too long. */
export function patternOfAll(value: unknown, flags = ''): string | null {
  const cased = (text: string) => (flags === 'i' ? text.toLowerCase() : text);
  const texts = [...new Map(listOf(value).map((one) => [cased(textOf(one)), textOf(one)])).values()].filter(
    (one, _, all) => all.every((other) => other === one || !cased(other).includes(cased(one))),
  );
  if (texts.length === 0 || texts.length > maxOrdered) return null;
  const pattern = orders(texts)
    .map((order) => order.map((one, at) => (at === 0 ? escape(one) : following(order[at - 1]!, one, cased))).join(''))
    .join('|');
  return 'problem' in compilePattern(pattern, flags) ? null : pattern;
}

/** The second after the first, or begun within its end; neither contains the other. */
function following(first: string, second: string, cased: (text: string) => string): string {
  const shared = Array.from({ length: Math.min(first.length, second.length) - 1 }, (_, at) => at + 1).filter(
    (length) => cased(first.slice(-length)) === cased(second.slice(0, length)),
  );
  const rests = shared.map((length) => escape(second.slice(length)));
  return `(?:${[`(?s:.*)${escape(second)}`, ...rests].join('|')})`;
}

function orders(texts: readonly string[]): string[][] {
  if (texts.length < 2) return [[...texts]];
  return texts.flatMap((one) => orders(texts.filter((other) => other !== one)).map((rest) => [one, ...rest]));
}
export const anyOf = (value: unknown) => listOf(value).map(escape).join('|');
const maxWords = 500;

/** A pattern for a number of words, or for `{min, max}`. */
export function wordsPattern(value: unknown): string | null {
  const { min = 0, max = null } = (isObject(value) ? value : { min: value, max: value }) as Record<string, unknown>;
  const [low, high] = [Number(min), max === null ? null : Number(max)];
  if (![low, high ?? low].every((one) => Number.isInteger(one) && one >= 0 && one <= maxWords)) return null;
  const spaces = String.raw`[\s\v\p{Z}\x{feff}]`;
  const word = String.raw`[^\s\v\p{Z}\x{feff}]+`;
  if (high === 0) return `^${spaces}*$`;
  const words = `${word}(?:${spaces}+${word}){${Math.max(low - 1, 0)},${high === null ? '' : high - 1}}`;
  return `^${spaces}*${low === 0 ? `(?:${words})?` : words}${spaces}*$`;
}
