import { errorInside, errorOfEvent } from './answer-error.js';
import { doneData, sseData } from './chat-stream.js';
import { SteadyChoice } from './steady-choice.js';
import { SseSplitter, type SseBlock } from '../net/sse.js';
import { parseBounded } from '../net/untrusted.js';
import { asObject } from '../../util/json.js';

type Json = Record<string, unknown>;

/**
 * A stream in the form that OpenAI documents, whatever a provider sends: each choice has an index
 * and a delta, each tool call an index of its own, an error its status. Whoever folds it, our
 * record or a client, gets the same answer. An event in that form passes byte for byte.
 */
export async function* steadyStream(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const splitter = new SseSplitter();
  const steady = new SteadyStream();
  for await (const chunk of bytes) {
    const text = splitter
      .push(chunk)
      .map((block) => steady.textOf(block))
      .join('');
    if (text !== '') yield Buffer.from(text);
  }
  const last = splitter.end();
  const text = last ? steady.textOf(last) : '';
  if (text !== '') yield Buffer.from(text);
}

class SteadyStream {
  private readonly choices = new Map<number, SteadyChoice>();

  textOf(block: SseBlock): string {
    const { raw, data, event, complete } = block;
    if (data === null) return raw;
    if (data.trim() === doneData) return complete && data === doneData ? raw : sseData(doneData);
    // The reader sees a cut event as such.
    if (!complete) return raw;
    const chunk = parseBounded(data);
    const fault = event === 'error' ? errorOfEvent(data, chunk) : chunk && errorInside(chunk);
    if (fault && isPlain(chunk?.['error'])) return raw;
    if (fault) return sseData({ ...chunk, error: { ...fault.error, status: fault.status } });
    if (!chunk) return '';
    return this.steady(chunk) ? raw : sseData(chunk);
  }

  /** Corrects a chunk in place; whether it was in OpenAI's form already. */
  private steady(chunk: Json): boolean {
    const given: unknown = chunk['choices'];
    const items = (Array.isArray(given) ? given : []).map(asObject);
    const list = items.filter((choice) => choice !== null);
    let same = Array.isArray(given) && list.length === items.length;
    if (!same) chunk['choices'] = list;
    for (const [at, choice] of list.entries()) {
      const index = Number(choice['index'] ?? at);
      const known = Number.isSafeInteger(index) && index >= 0 ? index : 0;
      if (choice['index'] !== known) same = false;
      choice['index'] = known;
      const state = this.choices.get(known) ?? new SteadyChoice();
      this.choices.set(known, state);
      if (!state.correct(choice)) same = false;
    }
    return same;
  }
}

/** Whether an error has OpenAI's form, by which clients show it. */
function isPlain(value: unknown): boolean {
  const error = asObject(value);
  return error !== null && typeof error['message'] === 'string' && error['message'] !== '';
}
