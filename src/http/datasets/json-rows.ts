/**
 * Splits a file of JSON into the texts of its rows: the elements of a list, of the one list of an
 * object such as `{"data": […]}`, or a row a line. The first character says which, not the name of
 * the file. Nothing is parsed as a whole.
 */
import { isObject } from '../../util/json.js';
import { uploadLimits } from '../../contracts/datasets/dataset.js';
import { continued, Unreadable } from './decode.js';

export interface Piece {
  line: number;
  text: string;
  /** The number of the row in its list, from 0; rows of a list may share a line. */
  row?: number;
}

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

/** The names under which files keep their list of rows. */
const listNames = new Set(['data', 'rows', 'examples', 'records', 'instances', 'items', 'samples', 'tests']);

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

const noList = 'must be a list of rows, or rows of one line each (application/jsonl)';
/** Characters kept of a text that may be a name. */
const maxName = 100;

/**
 * The elements of a list, or of the one list with a known name in an object. A library for streams
 * of JSON would trust the file (ADR 29).
 */
async function* elementsOf(chunks: AsyncIterable<string>): AsyncGenerator<Piece> {
  let line = 1;
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  let hasEnded = false;
  let piece: Piece | null = null;
  let row = 0;
  // The depth of the rows: 1 in a list, 2 in the list of an object; null: not found yet.
  let rowDepth: number | null = null;
  let isObjectFile = false;
  let hasList = false;
  let name = '';
  const lists: string[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const char = chunk[at]!;
      if (char === '\n') line += 1;
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (char === '\\') isEscaped = true;
        else if (char === '"') isInText = false;
        if (isInText && isObjectFile && depth === 1 && name.length < maxName) name += char;
        continue;
      }
      if (char <= ' ') continue;
      if (hasEnded)
        throw new Unreadable(`has text after the end of the ${isObjectFile ? 'object' : 'list'}, at line ${line}`);
      if (depth === 0) {
        if (char !== '[' && char !== '{') throw new Unreadable(noList);
        isObjectFile = char === '{';
        rowDepth = isObjectFile ? null : 1;
        depth = 1;
        continue;
      }
      if (rowDepth !== null && depth === rowDepth && (char === ',' || char === ']')) {
        if (piece) yield { ...piece, text: piece.text + chunk.slice(from, at) };
        else if (char === ',') yield { line, text: '', row };
        piece = null;
        row += 1;
        if (char === ']') {
          hasEnded = !isObjectFile;
          rowDepth = null;
          depth -= 1;
        }
        continue;
      }
      if (rowDepth === null) {
        if (char === '"') {
          isInText = true;
          if (depth === 1) name = '';
        } else if (char === '[' && depth === 1) {
          lists.push(name);
          depth = 2;
          if (listNames.has(name)) {
            if (hasList)
              throw new Unreadable(`is an object with several lists of rows (${quoted(lists)}); write one alone`);
            hasList = true;
            rowDepth = 2;
          }
        } else if (char === '{' || char === '[') depth += 1;
        else if (char === '}' || char === ']') depth -= 1;
        hasEnded = depth === 0;
        continue;
      }
      if (!piece) {
        piece = { line, text: '', row };
        from = at;
      }
      if (char === '"') isInText = true;
      else if (char === '{' || char === '[') depth += 1;
      else if (char === '}' || char === ']') depth -= 1;
    }
    if (piece) piece.text += chunk.slice(from);
    if (piece && piece.text.length > uploadLimits.rowChars) return yield piece;
  }
  if (!hasEnded) throw new Unreadable(isObjectFile || depth > 0 ? 'ends in the middle of its rows' : noList);
  if (isObjectFile && !hasList)
    throw new Unreadable(
      `is an object, not a list of rows${lists.length > 0 ? `; write its list alone (${quoted(lists)})` : '; pandas writes a list by orient="records"'}`,
    );
}

function quoted(names: readonly string[]): string {
  return names
    .slice(0, 5)
    .map((name) => `"${name}"`)
    .join(', ');
}
