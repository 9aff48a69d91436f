import { errorInside, errorOfEvent } from './answer-error.js';
import { doneData, sseData } from './chat-stream.js';
import { steadyCalls, SteadyChoice } from './steady-choice.js';
import { SseSplitter, type SseBlock } from '../../../clients/net/sse.js';
import { parseBounded } from '../../../clients/net/untrusted.js';
import { asObject } from '../../../util/json.js';

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
    const chunk = parseBounded(data);
    const fault = /error|exception/i.test(event ?? '') ? errorOfEvent(data, chunk) : chunk && errorInside(chunk);
    if (!chunk && data.includes('\n') && parseBounded(data.slice(0, data.indexOf('\n')))) return this.ofLines(block);
    // The reader sees a cut event as such.
    if (!chunk && !complete) return raw;
    if (fault && complete && isPlain(chunk?.['error'])) return raw;
    if (fault) return sseData({ ...chunk, error: { ...fault.error, status: fault.status } });
    if (!chunk) return '';
    return this.steady(chunk) && complete ? raw : sseData(chunk);
  }

  /** Events without a blank line between them. */
  private ofLines({ data, event, complete }: SseBlock): string {
    const lines = data!.split('\n');
    return lines
      .map((line, at) => ({ raw: sseData(line), data: line, event, complete: complete || at < lines.length - 1 }))
      .map((block) => this.textOf(block))
      .join('');
  }

  /** Corrects a chunk in place; whether it was in OpenAI's form already. */
  private steady(chunk: Json): boolean {
    const given: unknown = chunk['choices'];
    const items = (Array.isArray(given) ? given : [given]).map(asObject);
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

/**
 * Gives a whole answer OpenAI's form in place: each choice a message, each tool call an id and
 * arguments as text. Whether it had that form.
 */
export function steadyCompletion(completion: Json): boolean {
  const choices = (completion['choices'] as unknown[]).map(asObject);
  const fixes = choices.map((choice, at) => {
    if (!choice) return true;
    const isWhole = asObject(choice['message']) !== null;
    if (!isWhole) {
      const { delta, text, message: _none, ...rest } = choice;
      const message = asObject(delta) ?? (typeof text === 'string' ? { role: 'assistant', content: text } : null);
      if (message) completion['choices'] = choices;
      if (message) choices[at] = { index: at, ...rest, message };
    }
    return steadyCalls(asObject(choices[at]?.['message'])) && isWhole;
  });
  return fixes.every(Boolean);
}

/** Whether an error has OpenAI's form, by which clients show it. */
function isPlain(value: unknown): boolean {
  const error = asObject(value);
  return error !== null && typeof error['message'] === 'string' && error['message'] !== '';
}
