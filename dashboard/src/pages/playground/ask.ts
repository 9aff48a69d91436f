import { EventSourceParserStream } from 'eventsource-parser/stream';
import { client } from '../../data/client.js';
import { messageOf } from '../../util/format.js';
import { noAnswer, withChunk, type StreamedAnswer } from './fold.js';

export interface AskedAnswer extends StreamedAnswer {
  /** Milliseconds to the first text, and to the end; null: not yet. */
  firstMs: number | null;
  totalMs: number | null;
  deploymentId: string | null;
}

export const notAsked: AskedAnswer = { ...noAnswer, firstMs: null, totalMs: null, deploymentId: null };

/** Models may think for long. */
const timeoutMs = 600_000;

/** Asks a deployment; `show` gets the answer as it grows. A stop ends it where it is. */
export async function ask(
  { model, input, asksUsage }: { model: string; input: string; asksUsage: boolean },
  stop: AbortSignal,
  show: (answer: AskedAnswer) => void,
): Promise<void> {
  const began = performance.now();
  const elapsed = () => performance.now() - began;
  let answer = notAsked;
  const set = (changes: Partial<AskedAnswer>) => {
    answer = { ...answer, ...changes };
    show(answer);
  };
  try {
    const body = {
      model,
      messages: [{ role: 'user', content: input }],
      stream: true,
      ...(asksUsage && { stream_options: { include_usage: true } }),
    };
    const response = await client.value.download('createChatCompletion', { body, signal: stop, timeoutMs });
    const cost = response.headers.get('x-ratchet-cost-usd');
    set({
      deploymentId: response.headers.get('x-ratchet-deployment-id'),
      ...(cost !== null && { costUsd: Number(cost) }),
    });
    for await (const { data } of eventsOf(response)) {
      const next = withChunk(answer, data);
      set({ ...next, firstMs: answer.firstMs ?? (next.text === '' ? null : elapsed()) });
    }
    if (!answer.isDone && answer.error === null) set({ error: 'The answer broke off.' });
  } catch (error) {
    if (!stop.aborted) set({ error: messageOf(error) });
  }
  set({ totalMs: elapsed(), isDone: true });
}

async function* eventsOf(response: Response) {
  const reader = response
    .body!.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
