/**
 * Splits a file of JSON into the texts of its rows: the elements of a list, of the one list of an
 * object such as `{"data": […]}`, or a row a line. The first character says which, not the name of
 * the file. Nothing is parsed as a whole.
 */
import { isObject } from '../../util/json.js';
import { uploadLimits } from '../contract/dataset.js';
import { continued } from './decode.js';
import { elementsOf, listNames, type Piece } from './json-list.js';

export async function* piecesOf(chunks: AsyncIterable<string>, hasLines: boolean): AsyncGenerator<Piece> {
  const { line, isOnly, text } = await firstLine(chunks);
  const value = line.startsWith('{') ? parsedOrNull(line) : null;
  // Lines without a row in the first one are named one by one.
  const isLines = isOnly ? hasLines && !holdsList(value) : value !== null || hasLines;
  yield* line.startsWith('[') || !isLines ? elementsOf(text) : linesOf(text);
}

function parsedOrNull(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null;
  }
}

function holdsList(value: unknown): boolean {
  const isRows = (list: unknown) => Array.isArray(list) && list.length > 0 && list.every(isObject);
  return isObject(value) && Object.entries(value).some(([name, list]) => listNames.has(name) && isRows(list));
}

/** The first line with a text, whether it is the only one, and the whole text. */
async function firstLine(
  chunks: AsyncIterable<string>,
): Promise<{ line: string; isOnly: boolean; text: AsyncGenerator<string> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const pieces: string[] = [];
  let chars = 0;
  let first: string | null = null;
  let hasBegun = false;
  let hasMore = false;
  let isAll = false;
  while (!hasMore && chars <= uploadLimits.rowChars) {
    const next = await iterator.next();
    isAll = next.done === true;
    if (next.done) break;
    pieces.push(next.value);
    chars += next.value.length;
    // Only an object may be a row of one line.
    if (!/^\s*(?:\{|$)/.test(pieces[0]!)) break;
    if (first !== null) hasMore = next.value.trim() !== '';
    hasBegun ||= next.value.trim() !== '';
    // A line break that leads the text ends no line.
    if (first === null && hasBegun && next.value.includes('\n'))
      [first, hasMore] = splitAtLine(pieces.join('')) ?? [null, false];
  }
  const read = pieces.join('');
  return { line: (first ?? read).trim(), isOnly: isAll && !hasMore, text: continued(read, iterator) };
}

function splitAtLine(text: string): [line: string, hasMore: boolean] | null {
  const start = text.search(/\S/);
  const end = start < 0 ? -1 : text.indexOf('\n', start);
  return end < 0 ? null : [text.slice(start, end), text.slice(end).trim() !== ''];
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<Piece> {
  let line = 1;
  // Chunks may be of one character: each is looked at once.
  let rest: string[] = [];
  let restChars = 0;
  for await (const chunk of chunks) {
    const [first, ...others] = chunk.split('\n') as [string, ...string[]];
    rest.push(first);
    restChars += first.length;
    for (const next of others) {
      const text = rest.join('');
      [rest, restChars] = [[next], next.length];
      if (text.trim() !== '') yield { line, text };
      line += 1;
    }
    if (restChars > uploadLimits.rowChars) return yield { line, text: rest.join('') };
  }
  const text = rest.join('');
  if (text.trim() !== '') yield { line, text };
}
