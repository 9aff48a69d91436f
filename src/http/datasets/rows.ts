/** Reads the rows of a file one at a time, as JSON, JSONL or CSV. */
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { uploadLimits } from '../../contracts/datasets/dataset.js';
import { createTurns } from '../../util/turns.js';

export type Format = 'json' | 'jsonl' | 'csv';

/** A row of a file, or its fault. It begins at `line` (from 1); in CSV it ends there. */
export type FileRow = { line: number; value: unknown } | { line: number; fault: string };

export function readRows(format: Format, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<FileRow> {
  const text = decoded(chunks);
  if (format === 'csv') return readCsv(text);
  return parsed(format === 'json' ? elementsOf(text) : linesOf(text));
}

/** A file that cannot be read any further. */
class Unreadable extends Error {}

const tooLong = `is longer than ${uploadLimits.rowChars.toLocaleString('en')} characters`;

/** UTF-8 without its byte order mark. */
async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new Unreadable('is not valid UTF-8');
    }
  };
  // A caller may send many small chunks at once.
  const turns = createTurns();
  for await (const chunk of chunks) {
    await turns();
    yield decode(chunk);
  }
  yield decode();
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
        if (char !== '[') throw new Unreadable('must be a list of rows; for one row a line use application/jsonl');
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
  try {
    for await (const { line, text } of pieces) {
      if (text.length > uploadLimits.rowChars) yield { line, fault: tooLong };
      else yield parseRow(line, text);
    }
  } catch (error) {
    yield unreadable(error);
  }
}

function parseRow(line: number, text: string): FileRow {
  try {
    return { line, value: JSON.parse(text) };
  } catch (error) {
    return { line, fault: `is not valid JSON: ${(error as Error).message.slice(0, 200)}` };
  }
}

/** The first row names the columns; all values are texts. */
async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<FileRow> {
  const parser = parse({
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: uploadLimits.rowChars,
  });
  // The iteration throws the errors.
  pipeline(Readable.from(chunks), parser, () => {});
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

/** Line 0: the file as a whole. */
function unreadable(error: unknown): FileRow {
  if (error instanceof Unreadable) return { line: 0, fault: error.message };
  if (!(error instanceof CsvError)) throw error;
  const line = typeof error['lines'] === 'number' ? error['lines'] : 0;
  return { line, fault: error.code === 'CSV_MAX_RECORD_SIZE' ? tooLong : `is not valid CSV: ${error.message}` };
}
