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

/** Parts of a text that were no JSON, after which the search for its last value ends. */
const maxFailures = 1_000;

function read(text: string, accepts: (value: unknown) => boolean, repaired: boolean): ReadJson | null {
  const { answer } = splitThoughts(text);
  const whole = parse(answer, repaired);
  if (whole) return acceptable(whole, accepts, repaired);
  const blocks = blocksOf(answer);
  if (blocks.at(-1)?.isClosed === false) return null;
  const fenced = blocks.map(({ start, end, text: inside }) => {
    return { start, end, value: onlyOnce(() => fencedValue(inside, accepts, repaired)) };
  });
  const inProse = rangesIn(answer).map(({ start, end }) => {
    return { start, end, value: onlyOnce(() => valueInProse(answer, start, end, repaired)) };
  });
  let remark: ReadJson | null = null;
  let failures = 0;
  // A block with several values, or with words around one, is read as prose.
  for (const { value } of fromTheEnd(fenced, inProse)) {
    const found = value();
    if (!found && (failures += 1) > maxFailures) break;
    if (!found || !accepts(found.value)) continue;
    if (!found.isRemark) return { value: found.value };
    remark ??= { value: found.value };
  }
  return remark;
}

type Found = ReadJson & { isRemark: boolean };
type Part = Range & { value: () => Found | null };

/** The parts, the last one first, without those in prose that begin inside a block of JSON. */
function* fromTheEnd(blocks: readonly Part[], inProse: readonly Part[]): Generator<Part> {
  let at = blocks.length - 1;
  for (const part of inProse.toReversed()) {
    while (at >= 0 && blocks[at]!.start > part.start) yield blocks[at--]!;
    const block = blocks[at];
    const isInside = block !== undefined && part.start < block.end;
    if (!isInside || !block.value()) yield part;
  }
  while (at >= 0) yield blocks[at--]!;
}

function fencedValue(text: string, accepts: (value: unknown) => boolean, repaired: boolean): Found | null {
  const parsed = parse(text, repaired);
  return parsed && { ...(acceptable(parsed, accepts, repaired) ?? parsed), isRemark: false };
}

function valueInProse(text: string, start: number, end: number, repaired: boolean): Found | null {
  const parsed = parse(text.slice(start, end), repaired);
  return parsed && { ...parsed, isRemark: text[start - 1] === '`' || isPlain(parsed.value) };
}

function onlyOnce<T>(compute: () => T): () => T {
  let computed: { result: T } | null = null;
  return () => (computed ??= { result: compute() }).result;
}

/** The value, or the object of which it is the text: JSON within a string of JSON. */
function acceptable(read: ReadJson, accepts: (value: unknown) => boolean, repaired: boolean): ReadJson | null {
  if (accepts(read.value)) return read;
  const inner = typeof read.value === 'string' ? parse(read.value, repaired) : null;
  return inner && isObject(inner.value) && accepts(inner.value) ? inner : null;
}

interface Range {
  start: number;
  end: number;
}

const maxScanned = 4_000_000;
/** Levels of nesting; deeper values are none, as they cost much and equal no expected value. */
const maxDepth = 100_000;

/** The objects and lists in prose, none inside another; empty behind the start of an open one. */
function rangesIn(text: string): Range[] {
  const found: Range[] = [];
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
    found.push({ start, end });
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

/** The end of the brackets that open at `start`; null: prose, no value. */
function endOf(text: string, start: number): number | 'open' | null {
  const closers: string[] = [];
  let hasStrings = true;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"' && hasStrings) {
      const end = endOfString(text, at);
      // Without an end it is none, and neither are those behind it.
      if (end === null) hasStrings = false;
      else at = end;
    } else if (character === '{' || character === '[') {
      if (closers.push(character === '{' ? '}' : ']') > maxDepth) return null;
    } else if (character === '}' || character === ']') {
      if (closers.pop() !== character) return null;
      if (closers.length === 0) return at + 1;
    }
  }
  return text[start] === '{' || text.startsWith('[{', start) ? 'open' : null;
}

/** The position of the closing quotation mark; null: none. */
function endOfString(text: string, start: number): number | null {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return null;
}

const commasAndTexts = new RegExp(String.raw`${string}|"[\s\S]*|,(?=\s*[}\]])`, 'g');
const controls: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function parse(text: string, repaired: boolean): ReadJson | null {
  // `trim` takes a byte order mark and no-break spaces, too.
  const source = (repaired ? text.replaceAll(commasAndTexts, repair) : text).trim();
  // An exception costs more than this look.
  if (source === '' || (/^[{[]/.test(source) && endOf(source, 0) !== source.length)) return null;
  try {
    return { value: JSON.parse(source) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function repair(part: string): string {
  return part === ',' ? '' : part.replaceAll(/[\n\r\t]/g, (character) => controls[character]!);
}
