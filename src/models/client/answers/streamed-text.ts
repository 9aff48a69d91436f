import { firstChoice, textOfContent } from '../../../core/answers/completion.js';
import { field } from '../../../clients/net/untrusted.js';
import { asObject } from '../../../util/json.js';
import { foldStream } from './read-answer.js';

type Json = Record<string, unknown>;

/**
 * Reads a streamed chat completion of one choice; `onText` gets each piece of text. Rejects with a
 * StreamedError, or with another error when the stream breaks off.
 */
export async function readStream(bytes: AsyncIterable<Uint8Array>, onText: (piece: string) => void): Promise<Json> {
  let text = '';
  const completion = await foldStream(bytes, (chunk) => {
    const piece = textOfContent(field(field(firstChoice(chunk), 'delta'), 'content'));
    if (piece === '') return;
    text += piece;
    onText(piece);
  });
  const choice = firstChoice(completion);
  // The streamed pieces are authoritative.
  const choices = choice ? [{ ...choice, message: { ...asObject(choice['message']), content: text } }] : [];
  return { ...completion, choices };
}
