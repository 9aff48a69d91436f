/** Reads the rows of a file one at a time, as JSON, JSONL or CSV. */
import { isUtf8 } from 'node:buffer';
import { pipeline, Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { CsvError, parse } from 'csv-parse';
import { pointerOf } from '../server/errors.js';
import { inexactNumbers, inexactProblem, pathOfNumber } from '../../util/exact-json.js';
import { uploadLimits } from '../../contracts/datasets/dataset.js';
import { createTurns } from '../../util/turns.js';

export type Format = 'json' | 'jsonl' | 'csv';

/** A row of a file, or its fault. It begins at `line` (from 1); in CSV it ends there. */
export type FileRow = { line: number; value: unknown } | { line: number; fault: string };

export function readRows(format: Format, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<FileRow> {
  const text = inTurns(decoded(chunks));
  if (format === 'csv') return readCsv(text);
  return parsed(format === 'json' ? piecesOf(text) : linesOf(text));
}

/** A file that cannot be read any further; line 0: as a whole. */
class Unreadable extends Error {
  readonly line: number;
  constructor(message: string, line = 0) {
    super(message);
    this.line = line;
  }
}

const tooLong = `is longer than ${uploadLimits.rowChars.toLocaleString('en')} characters`;

/** UTF-8, or UTF-16 with a byte order mark, without the mark. */
async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | null = null;
  let start = Buffer.alloc(0);
  let line = 1;
  const decode = (chunk: Uint8Array, stream: boolean) => {
    decoder ??= new TextDecoder(encodingOf(chunk), { fatal: true });
    try {
      return decoder.decode(chunk, { stream });
    } catch {
      const { encoding } = decoder;
      const name = encoding.toUpperCase();
      const advice = encoding === 'utf-8' ? ', as files in Windows-1252 are not; save it as UTF-8' : '';
      throw new Unreadable(
        `is not valid ${name}${advice}`,
        line + (encoding === 'utf-8' ? linesBeforeFault(chunk) : 0),
      );
    }
  };
  for await (const chunk of chunks) {
    if (decoder === null && start.length + chunk.length < 2) {
      start = Buffer.concat([start, chunk]);
      continue;
    }
    const text = decode(decoder === null ? Buffer.concat([start, chunk]) : chunk, true);
    yield text;
    line += text.split('\n').length - 1;
  }
  yield decode(decoder === null ? start : Buffer.alloc(0), false);
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if ((first === 0) !== (second === 0))
    throw new Unreadable('is UTF-16 without a byte order mark, it seems; save it as UTF-8');
  return 'utf-8';
}

/** The lines of a chunk before the one that is not valid UTF-8. */
function linesBeforeFault(chunk: Uint8Array): number {
  let [line, from] = [0, 0];
  // A character may continue from the chunk before.
  while (from < Math.min(3, chunk.length) && chunk[from]! >> 6 === 2) from += 1;
  for (let end = chunk.indexOf(10, from); end >= 0; end = chunk.indexOf(10, from)) {
    if (!isUtf8(chunk.subarray(from, end))) break;
    line += 1;
    from = end + 1;
  }
  return line;
}

/** Characters that are read in one turn of the event loop: some 1,000 rows, or faults, of CSV. */
const pieceChars = 2_048;

/** A text in pieces, whatever its chunks: few large ones, or many small ones at once. */
async function* inTurns(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  const turns = createTurns();
  for await (const chunk of chunks) {
    for (let at = 0, end = 0; end < chunk.length || at === 0; at = end) {
      end = at + pieceChars;
      // Half of a pair is no character to a reader of bytes.
      if (isLowSurrogate(chunk.charCodeAt(end))) end += 1;
      await turns();
      yield chunk.slice(at, end);
    }
  }
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** The first line (null: there is only one), and the whole text. */
async function firstLine(
  chunks: AsyncIterable<string>,
): Promise<{ line: string | null; text: AsyncGenerator<string> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  let read = '';
  let hasBegun = false;
  let hasEnded = false;
  while (!hasEnded && read.length <= uploadLimits.rowChars) {
    const next = await iterator.next();
    if (next.done) break;
    const piece: string = hasBegun ? next.value : next.value.trimStart();
    hasBegun ||= piece !== '';
    hasEnded = piece.includes('\n');
    read += next.value;
  }
  const rest = { [Symbol.asyncIterator]: () => iterator };
  async function* whole(): AsyncGenerator<string> {
    yield read;
    yield* rest;
  }
  return { line: hasEnded ? read.trimStart().split('\n', 1)[0]! : null, text: whole() };
}

/** The elements of a list, or a row a line if the first line is a row. */
async function* piecesOf(chunks: AsyncIterable<string>): AsyncGenerator<Piece> {
  const { line, text } = await firstLine(chunks);
  const isRow = line?.startsWith('{') && 'value' in parseRow(1, line);
  yield* isRow ? linesOf(text) : elementsOf(text);
}

interface Piece {
  line: number;
  text: string;
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

/** The elements of a list. A library for streams of JSON would trust the file (ADR 29). */
async function* elementsOf(chunks: AsyncIterable<string>): AsyncGenerator<Piece> {
  let line = 1;
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  let hasEnded = false;
  let piece: Piece | null = null;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const char = chunk[at]!;
      if (char === '\n') line += 1;
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (char === '\\') isEscaped = true;
        else if (char === '"') isInText = false;
        continue;
      }
      if (char <= ' ') continue;
      if (hasEnded) throw new Unreadable(`has text after the end of the list, at line ${line}`);
      if (depth === 0) {
        if (char !== '[') throw new Unreadable('must be a list of rows, or rows of one line each (application/jsonl)');
        depth = 1;
        continue;
      }
      const isEnd = depth === 1 && (char === ',' || char === ']');
      if (isEnd) {
        if (piece) yield { line: piece.line, text: piece.text + chunk.slice(from, at) };
        else if (char === ',') yield { line, text: '' };
        piece = null;
        hasEnded = char === ']';
        continue;
      }
      if (!piece) {
        piece = { line, text: '' };
        from = at;
      }
      if (char === '"') isInText = true;
      else if (char === '{' || char === '[') depth += 1;
      else if (char === '}' || char === ']') depth -= 1;
    }
    if (piece) piece.text += chunk.slice(from);
    if (piece && piece.text.length > uploadLimits.rowChars) return yield piece;
  }
  if (!hasEnded) throw new Unreadable('ends in the middle of the list');
}

async function* parsed(pieces: AsyncIterable<Piece>): AsyncGenerator<FileRow> {
  const turns = createTurns();
  try {
    for await (const { line, text } of pieces) {
      await turns();
      if (text.length > uploadLimits.rowChars) yield { line, fault: tooLong };
      else yield parseRow(line, text);
    }
  } catch (error) {
    yield unreadable(error);
  }
}

function parseRow(line: number, text: string): FileRow {
  try {
    const value: unknown = JSON.parse(text);
    const [inexact] = inexactNumbers(text);
    if (!inexact) return { line, value };
    return { line, fault: `has a value at ${pointerOf(pathOfNumber(text, inexact))} that ${inexactProblem(inexact)}` };
  } catch (error) {
    return { line, fault: `is not valid JSON: ${(error as Error).message.slice(0, 200)}` };
  }
}

/** The first row names the columns; all values are texts. */
async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<FileRow> {
  let head: Awaited<ReturnType<typeof firstLine>>;
  try {
    head = await firstLine(chunks);
  } catch (error) {
    return yield unreadable(error);
  }
  const parser = parse({
    delimiter: delimiterOf(head.line ?? ''),
    // As in `5" pipe`.
    relax_quotes: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: uploadLimits.rowChars,
  });
  // The iteration throws the errors.
  pipeline(Readable.from(inTurns(head.text)), parser, () => {});
  let header: string[] | null = null;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      const line = info.lines;
      if (header === null) {
        header = record;
        const most = uploadLimits.columns;
        if (header.length > most)
          return yield { line, fault: `names ${header.length} columns; at most ${most} are allowed` };
        const seen = new Set<string>();
        const repeated = record.find((name) => seen.size === seen.add(name).size);
        const unnamed = record.findIndex((name) => name.trim() === '');
        if (unnamed >= 0)
          return yield {
            line,
            fault: `names no column in place ${unnamed + 1}; an index of pandas is left out by index=False`,
          };
        if (repeated !== undefined) return yield { line, fault: `names the column "${repeated}" twice` };
      } else if (record.length !== header.length) {
        yield { line, fault: `has ${record.length} values, and the header names ${header.length} columns` };
      } else {
        yield { line, value: Object.fromEntries(header.map((name, index) => [name, record[index]])) };
      }
    }
  } catch (error) {
    yield unreadable(error);
  }
}

/** The mark of a header's values: a comma, or without any a semicolon or tab. */
function delimiterOf(header: string): string {
  const bare = header.replaceAll(/"[^"]*"/g, '');
  return [',', ';', '\t'].find((mark) => bare.includes(mark)) ?? ',';
}

/** Line 0: the file as a whole. */
function unreadable(error: unknown): FileRow {
  if (error instanceof Unreadable) return { line: error.line, fault: error.message };
  if (!(error instanceof CsvError)) throw error;
  const line = typeof error['lines'] === 'number' ? error['lines'] : 0;
  return { line, fault: error.code === 'CSV_MAX_RECORD_SIZE' ? tooLong : `is not valid CSV: ${error.message}` };
}
