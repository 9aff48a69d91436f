/** One event of a text/event-stream; `raw` includes the final blank line. */
export interface SseBlock {
  raw: string;
  data: string | null;
  /** false: the stream ended before the blank line; the event may be incomplete. */
  complete: boolean;
}

const blankLine = /\r\n\r\n|\n\n|\r\r/;

/**
 * Splits a stream of server-sent events (WHATWG HTML §9.2.6) losslessly: the joined `raw` are the
 * stream. Text after the last blank line is a block too.
 */
export async function* sseBlocks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<SseBlock> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  for await (const chunk of bytes) {
    rest += decoder.decode(chunk, { stream: true });
    for (let end = blankLine.exec(rest); end; end = blankLine.exec(rest)) {
      const cut = end.index + end[0].length;
      yield block(rest.slice(0, cut), true);
      rest = rest.slice(cut);
    }
  }
  rest += decoder.decode();
  if (rest !== '') yield block(rest, false);
}

function block(raw: string, complete: boolean): SseBlock {
  const lines = raw.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:'));
  const data = lines.length === 0 ? null : lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n');
  return { raw, data, complete };
}
