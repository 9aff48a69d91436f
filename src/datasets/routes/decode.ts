/**
 * Decodes a file of rows: UTF-8, or UTF-16 with a byte order mark, which is dropped. Everything
 * else is refused by what it is, before it is read as text.
 */
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { createTurns } from '../../util/turns.js';

/** A file that cannot be read any further; line 0: as a whole. */
export class Unreadable extends Error {
  readonly line: number;
  constructor(message: string, line = 0) {
    super(message);
    this.line = line;
  }
}

/** Bytes that say what a file is. */
const headBytes = 16;

export async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | null = null;
  let start = Buffer.alloc(0);
  let line = 1;
  const decode = (chunk: Uint8Array, stream: boolean) => {
    decoder ??= new TextDecoder(encodingOf(chunk), { fatal: true });
    try {
      return decoder.decode(chunk, { stream });
    } catch {
      const { encoding } = decoder;
      const isUtf16 = encoding !== 'utf-8';
      const advice = isUtf16 ? '' : ', as files in Windows-1252, Shift JIS or GBK are not; save it as UTF-8';
      const faulty = line + (isUtf16 ? 0 : linesBeforeFault(chunk));
      throw new Unreadable(`is not valid ${encoding.toUpperCase()}${advice}`, faulty);
    }
  };
  for await (const chunk of chunks) {
    if (decoder === null && start.length + chunk.length < headBytes) {
      start = Buffer.concat([start, chunk]);
      continue;
    }
    const text = decode(decoder === null ? Buffer.concat([start, chunk]) : chunk, true);
    yield text;
    line += text.split('\n').length - 1;
  }
  yield decode(decoder === null ? start : Buffer.alloc(0), false);
}

/** Files of other kinds by their first bytes (as Latin-1), and what to do with them. */
const others: readonly (readonly [RegExp, string])[] = [
  [/^(?:\xff\xfe\0\0|\0\0\xfe\xff)/, 'is UTF-32; save it as UTF-8'],
  [/^PK\x03\x04/, 'is an Excel workbook or another zip archive; save the sheet as CSV in UTF-8'],
  [/^\xd0\xcf\x11\xe0/, 'is an Excel workbook; save the sheet as CSV in UTF-8'],
  [/^\x1f\x8b/, 'is compressed by gzip; decompress it'],
  [/^(?:\x28\xb5\x2f\xfd|BZh[1-9]1AY|\xfd7zXZ|7z\xbc\xaf)/, 'is compressed; decompress it'],
  [/^(?:PAR1\x15|ARROW1\0|ORC\x0a|SQLite format 3\0|Obj\x01)/, 'is a table in a binary form; write it as JSONL or CSV'],
  [/^%PDF-/, 'is a PDF; write its rows as JSONL or CSV'],
  [/^version https:/, 'is a pointer of Git LFS, not the file; fetch it by git lfs pull'],
  [/^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|\?xml)\b/i, 'is a page in HTML or XML; download the file itself'],
];

function encodingOf(head: Uint8Array): string {
  const text = Buffer.from(head.subarray(0, headBytes)).toString('latin1');
  const other = others.find(([form]) => form.test(text));
  if (other) throw new Unreadable(other[1]);
  if (text.startsWith('\xff\xfe')) return 'utf-16le';
  if (text.startsWith('\xfe\xff')) return 'utf-16be';
  if ((head[0] === 0) !== (head[1] === 0))
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
export async function* inTurns(chunks: AsyncIterable<string>): AsyncGenerator<string> {
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

/** A text of which a part is read already. Its end, at whatever place, is the end of its source. */
export async function* continued(read: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  try {
    yield read;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
