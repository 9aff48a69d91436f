import { doneData, StreamFold } from './chat-stream.js';
import { sseBlocks } from '../net/sse.js';
import { field, parseBounded } from '../net/untrusted.js';
import { asObject } from '../../util/json.js';
import { cutToBytes, textOfContent } from '../../util/text.js';

type Json = Record<string, unknown>;

/** The provider ended the stream with an error event; the message is the event's. */
export class StreamedError extends Error {
  override readonly name = 'StreamedError';
}

/**
 * Reads a streamed chat completion of one choice; `onText` gets each piece of text. Rejects with a
 * StreamedError, or with another error when the stream breaks off.
 */
export async function readStream(bytes: AsyncIterable<Uint8Array>, onText: (piece: string) => void): Promise<Json> {
  const fold = new StreamFold();
  let text = '';
  let isDone = false;
  for await (const { data, complete } of sseBlocks(bytes)) {
    // Drain the rest after [DONE], so that the connection can be reused.
    if (data === null || isDone) continue;
    isDone = data === doneData;
    const chunk = complete ? parseBounded(data) : null;
    if (chunk === null) continue;
    if (chunk['error']) throw new StreamedError(cutToBytes(JSON.stringify(chunk['error']), 1_024));
    fold.add(chunk);
    const piece = textOfContent(field(field(firstOf(chunk), 'delta'), 'content'));
    if (piece === '') continue;
    text += piece;
    onText(piece);
  }
  if (!isDone && !fold.isWhole()) throw new Error('the stream ended early');
  const completion = fold.completion();
  const choice = firstOf(completion);
  // The streamed pieces are authoritative.
  const choices = choice ? [{ ...choice, message: { ...asObject(choice['message']), content: text } }] : [];
  return { ...completion, choices };
}

function firstOf(completion: Json | null): Json | null {
  const choices = field(completion, 'choices');
  return Array.isArray(choices) ? asObject(choices[0]) : null;
}
