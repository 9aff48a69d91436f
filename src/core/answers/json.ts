/**
 * Reads the JSON value of a model's answer: the whole text, or its last complete value, in a fence
 * of any length or in prose, after the thoughts. Invariants: a part of an incomplete value is never
 * the value; time is linear in the text up to a bound.
 *
 * A remark behind the value does not replace it: an empty value, a list of plain values (`[1]`) or
 * one in inline code counts only where nothing else does.
 */
import { isObject } from '../../util/json.js';
import { blocksOf } from './blocks.js';
import { splitThoughts } from './thoughts.js';

export interface ReadJson {
  value: unknown;
}

/** `accepts`: the values looked for; absent: all. Numbers, texts and words only alone. */
export function readJson(text: string, accepts: (value: unknown) => boolean = () => true): ReadJson | null {
  return read(text, accepts, false);
}

/**
 * As `readJson` for values that only this service reads: forgives commas before a closing bracket
 * and line breaks inside texts.
 */
export function readTolerantJson(text: string, accepts: (value: unknown) => boolean = () => true): ReadJson | null {
  return read(text, accepts, false) ?? read(text, accepts, true);
}

/** The value of a text that is nothing but JSON, with the same forgiveness. */
export function wholeJson(text: string): ReadJson | null {
  return parse(text, false) ?? parse(text, true);
}

function read(text: string, accepts: (value: unknown) => boolean, repaired: boolean): ReadJson | null {
  const { answer } = splitThoughts(text);
  const whole = parse(answer, repaired);
  if (whole) return acceptable(whole, accepts, repaired);
  const blocks = blocksOf(answer);
  if (blocks.at(-1)?.isClosed === false) return null;
  const fenced = blocks.flatMap(({ start, end, text: inside }) => {
    const parsed = parse(inside, repaired);
    const found = parsed && (acceptable(parsed, accepts, repaired) ?? parsed);
    return found ? [{ ...found, start, end, isRemark: false }] : [];
  });
  // A block with several values, or with words around one, is read as prose.
  const inProse = valuesIn(answer, repaired).filter(({ start }) =>
    fenced.every((block) => start < block.start || start >= block.end),
  );
  const found = [...fenced, ...inProse].filter(({ value }) => accepts(value));
  found.sort((left, right) => left.start - right.start);
  const last = found.findLast(({ isRemark }) => !isRemark) ?? found.at(-1);
  return last ? { value: last.value } : null;
}

/** The value, or the object of which it is the text: JSON within a string of JSON. */
function acceptable(read: ReadJson, accepts: (value: unknown) => boolean, repaired: boolean): ReadJson | null {
  if (accepts(read.value)) return read;
  const inner = typeof read.value === 'string' ? parse(read.value, repaired) : null;
  return inner && isObject(inner.value) && accepts(inner.value) ? inner : null;
}

interface FoundValue extends ReadJson {
  start: number;
  end: number;
  isRemark: boolean;
}

const maxScanned = 4_000_000;

/** The objects and lists in prose, none inside another; empty behind the start of an open one. */
function valuesIn(text: string, repaired: boolean): FoundValue[] {
  const found: FoundValue[] = [];
  let left = maxScanned;
  const opening = /[{[]/g;
  for (let match = opening.exec(text); match && left > 0; match = opening.exec(text)) {
    const start = match.index;
    beginsValue.lastIndex = start;
    if (!beginsValue.test(text)) continue;
    const end = endOf(text, start);
    if (end === 'open') return [];
    left -= (end ?? text.length) - start;
    if (end === null) continue;
    opening.lastIndex = end;
    const value = parse(text.slice(start, end), repaired);
    if (!value) continue;
    found.push({ ...value, start, end, isRemark: text[start - 1] === '`' || isPlain(value.value) });
  }
  return found;
}

function isPlain(value: unknown): boolean {
  const items = Object.values(value as object);
  return items.length === 0 || (Array.isArray(value) && items.every((item) => typeof item !== 'object'));
}

const string = String.raw`"[^"\\]*(?:\\[\s\S][^"\\]*)*"`;
const beginsValue = new RegExp(
  String.raw`\{\s*(?:\}|$|${string}\s*(?::|$)|"[^"]*$)|\[\s*(?:[\]{["]|$|-?\d|true\b|false\b|null\b)`,
  'y',
);
const bracket = new RegExp(String.raw`${string}|["{}[\]]`, 'g');
const bracketOnly = /[{}[\]]/g;

/** The end of the brackets that open at `start`; null: prose, no value. */
function endOf(text: string, start: number): number | 'open' | null {
  const closers: string[] = [];
  bracket.lastIndex = start;
  let next = bracket;
  for (let match = next.exec(text); match; match = next.exec(text)) {
    const [part] = match;
    // A text that never ends is none: do not look for its end again.
    if (part === '"') {
      next = bracketOnly;
      next.lastIndex = match.index;
    } else if (part === '{' || part === '[') closers.push(part === '{' ? '}' : ']');
    else if (part === '}' || part === ']') {
      if (closers.pop() !== part) return null;
      if (closers.length === 0) return match.index + 1;
    }
  }
  return text[start] === '{' || text.startsWith('[{', start) ? 'open' : null;
}

const commasAndTexts = new RegExp(String.raw`${string}|"[\s\S]*|,(?=\s*[}\]])`, 'g');
const controls: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function parse(text: string, repaired: boolean): ReadJson | null {
  const source = repaired ? text.replaceAll(commasAndTexts, repair) : text;
  try {
    // `trim` takes a byte order mark and no-break spaces, too.
    return { value: JSON.parse(source.trim()) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function repair(part: string): string {
  return part === ',' ? '' : part.replaceAll(/[\n\r\t]/g, (character) => controls[character]!);
}
