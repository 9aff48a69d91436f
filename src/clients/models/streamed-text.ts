import { doneData, StreamFold } from './chat-stream.js';
import { sseBlocks } from '../net/sse.js';
import { asObject, cutText, field, parseObject } from '../net/untrusted.js';

type Json = Record<string, unknown>;

/** A stream that the provider ended with an error event; the message is what that says. */
export class StreamedError extends Error {
  override readonly name = 'StreamedError';
}

/**
 * Reads a streamed chat completion of one choice to its end, and answers with the completion that it makes; `onText` gets the
 * pieces of its text as they come. Rejects with a StreamedError, or with any other where the stream breaks off.
 */
export async function readStream(bytes: AsyncIterable<Uint8Array>, onText: (piece: string) => void): Promise<Json> {
  const fold = new StreamFold();
  let text = '';
  let isDone = false;
  for await (const { data, complete } of sseBlocks(bytes)) {
    // After [DONE] the rest is only read so that the connection can be used again.
    if (data === null || isDone) continue;
    isDone = data === doneData;
    const chunk = complete ? parseObject(data) : null;
    if (chunk === null) continue;
    if (chunk['error']) throw new StreamedError(cutText(JSON.stringify(chunk['error']), 1_024));
    fold.add(chunk);
    const piece = textOfContent(field(field(firstOf(chunk), 'delta'), 'content'));
    if (piece === '') continue;
    text += piece;
    onText(piece);
  }
  if (!isDone && !fold.isWhole()) throw new Error('it ended half-way');
  const completion = fold.completion();
  const choice = firstOf(completion);
  // What was said piece by piece is what was said.
  const choices = choice ? [{ ...choice, message: { ...asObject(choice['message']), content: text } }] : [];
  return { ...completion, choices };
}

function firstOf(completion: Json | null): Json | null {
  const choices = field(completion, 'choices');
  return Array.isArray(choices) ? asObject(choices[0]) : null;
}

/** The text of a message's or a delta's content; '' where it has none, as of a model that has spent all its tokens on thinking. */
export function textOfContent(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  const parts = content.map((part: unknown) => field(part, 'text'));
  return parts.filter((part) => typeof part === 'string').join('');
}
