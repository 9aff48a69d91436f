/** One event of a text/event-stream; `raw` includes the final blank line. */
export interface SseBlock {
  raw: string;
  data: string | null;
  /** The type, if the event names one. */
  event: string | null;
  /** false: the stream ended before the blank line; the event may be incomplete. */
  complete: boolean;
}

/** Characters of the longest event that is read: an image can come in one. */
export const maxBlockLength = 8 * 1024 * 1024;

/** An event of a stream is longer than `maxBlockLength`. */
export class SseBlockTooLargeError extends Error {
  override readonly name = 'SseBlockTooLargeError';
  constructor() {
    super(`an event of more than ${maxBlockLength} characters`);
  }
}

/**
 * Splits a stream of server-sent events (WHATWG HTML §9.2.6) losslessly: the joined `raw` are the
 * stream without a byte order mark. Text after the last blank line is a block too. Reads each byte
 * once. Throws a SseBlockTooLargeError.
 */
export class SseSplitter {
  private readonly decoder = new TextDecoder('utf-8');
  private readonly blankLine = /\r\n\r\n|\n\r?\n|\r\r/g;
  /** The pieces of an event without its end. */
  private pieces: string[] = [];
  private length = 0;
  /** Their end, in which a blank line may have begun. */
  private tail = '';

  /** The events that end in this chunk. */
  push(chunk: Uint8Array): SseBlock[] {
    const piece = this.decoder.decode(chunk, { stream: true });
    const recent = this.tail + piece;
    this.pieces.push(piece);
    this.length += piece.length;
    this.tail = recent.slice(-3);
    this.blankLine.lastIndex = 0;
    if (!this.blankLine.test(recent)) {
      if (this.length > maxBlockLength) throw new SseBlockTooLargeError();
      return [];
    }
    const text = this.pieces.join('');
    const blocks: SseBlock[] = [];
    let start = 0;
    this.blankLine.lastIndex = text.length - recent.length;
    while (this.blankLine.test(text)) {
      blocks.push(block(text.slice(start, this.blankLine.lastIndex), true));
      start = this.blankLine.lastIndex;
    }
    const rest = text.slice(start);
    this.pieces = [rest];
    this.length = rest.length;
    if (rest.length > maxBlockLength) throw new SseBlockTooLargeError();
    this.tail = rest.slice(-3);
    return blocks;
  }

  /** The event that the stream broke off; null: none. */
  end(): SseBlock | null {
    const rest = this.pieces.join('') + this.decoder.decode();
    return rest === '' ? null : block(rest, false);
  }
}

/** The events of a stream, one by one. */
export async function* sseBlocks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<SseBlock> {
  const splitter = new SseSplitter();
  for await (const chunk of bytes) yield* splitter.push(chunk);
  const last = splitter.end();
  if (last) yield last;
}

function block(raw: string, complete: boolean): SseBlock {
  if (raw.length > maxBlockLength) throw new SseBlockTooLargeError();
  const lines = raw.split(/\r\n|\n|\r/);
  const values = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  const data = values('data');
  return { raw, data: data.length === 0 ? null : data.join('\n'), event: values('event').at(-1) ?? null, complete };
}
