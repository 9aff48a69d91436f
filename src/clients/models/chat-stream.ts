import { asObject } from '../../util/json.js';

type Json = Record<string, unknown>;

/** Final event of a stream of chat completion chunks. */
export const doneData = '[DONE]';

/** Whether a chunk carries usage alone: OpenAI's last chunk with `include_usage`. */
export function isUsageChunk(chunk: Json): boolean {
  return Array.isArray(chunk['choices']) && chunk['choices'].length === 0 && asObject(chunk['usage']) !== null;
}

/**
 * Folds streamed chunks into the completion of the same call without `stream`: texts are joined,
 * lists merged by `index`; for other fields the last value counts.
 */
export class StreamFold {
  private head: Json | null = null;
  private usage: unknown = null;
  private readonly choices = new Map<number, Json>();

  add(chunk: Json): void {
    const { choices, usage, ...head } = chunk;
    this.head = { ...this.head, ...head };
    if (asObject(usage)) this.usage = usage;
    for (const item of Array.isArray(choices) ? choices : []) {
      const { index, delta, ...rest } = asObject(item) ?? {};
      const at = typeof index === 'number' ? index : 0;
      const choice = this.choices.get(at) ?? { index: at, message: {}, finish_reason: null };
      const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
      const logprobs = merge(choice['logprobs'], known['logprobs']);
      this.choices.set(at, {
        ...choice,
        ...known,
        ...(logprobs === undefined ? {} : { logprobs }),
        message: merge(choice['message'], asObject(delta) ?? {}),
      });
    }
  }

  /** The completion so far; null before the first chunk. */
  completion(): Json | null {
    if (!this.head) return null;
    const choices = [...this.choices.values()].sort((a, b) => Number(a['index']) - Number(b['index']));
    return { ...this.head, object: 'chat.completion', choices, ...(this.usage === null ? {} : { usage: this.usage }) };
  }

  /** Whether every choice has a finish reason: then a stream without [DONE] is complete. */
  isWhole(): boolean {
    const choices = [...this.choices.values()];
    return choices.length > 0 && choices.every((choice) => choice['finish_reason'] != null);
  }
}

/** Fields that some providers repeat in every chunk; not to be joined. */
const repeated = new Set(['role', 'id', 'type', 'name', 'index']);

function merge(before: unknown, now: unknown, key = ''): unknown {
  if (now === undefined || now === null) return before ?? now;
  if (typeof before === 'string' && typeof now === 'string' && !repeated.has(key)) return before + now;
  if (Array.isArray(before) && Array.isArray(now)) return mergeLists(before, now);
  const [old, next] = [asObject(before), asObject(now)];
  if (!old || !next) return now;
  const merged: Json = { ...old };
  for (const [name, value] of Object.entries(next)) {
    if (name !== '__proto__') merged[name] = merge(old[name], value, name);
  }
  return merged;
}

function mergeLists(before: unknown[], now: unknown[]): unknown[] {
  const merged = [...before];
  for (const item of now) {
    const index = asObject(item)?.['index'];
    const at = typeof index === 'number' ? merged.findIndex((other) => asObject(other)?.['index'] === index) : -1;
    if (at === -1) merged.push(item);
    else merged[at] = merge(merged[at], item);
  }
  return merged;
}

/** Splits a message into pieces of 24 code points; half a surrogate pair is not text. */
const pieces = /[^]{1,24}/gu;

/** A completion as stream chunks; the usage chunk is last where requested. */
export function* chunksOf(completion: Json, includeUsage: boolean): Generator<Json> {
  const { choices, usage, ...rest } = completion;
  const head = { ...rest, object: 'chat.completion.chunk' };
  const list = (Array.isArray(choices) ? choices : []).map((item) => asObject(item) ?? {});
  for (const { index, message, finish_reason: finish, ...others } of list) {
    const { content, ...fields } = asObject(message) ?? {};
    const delta = {
      ...fields,
      ...(Array.isArray(fields['tool_calls']) && { tool_calls: indexed(fields['tool_calls']) }),
    };
    const text = typeof content === 'string' ? content : null;
    yield {
      ...head,
      choices: [{ index, delta: { ...delta, content: text === null ? null : '' }, ...others, finish_reason: null }],
    };
    for (const [piece] of (text ?? '').matchAll(pieces)) {
      yield { ...head, choices: [{ index, delta: { content: piece }, finish_reason: null }] };
    }
    yield { ...head, choices: [{ index, delta: {}, finish_reason: finish ?? 'stop' }] };
  }
  if (includeUsage && usage !== undefined) yield { ...head, choices: [], usage };
}

function indexed(calls: unknown[]): unknown[] {
  return calls.map((call, index) => ({ index, ...asObject(call) }));
}

export function* eventsOf(completion: Json, includeUsage: boolean): Generator<Buffer> {
  for (const chunk of chunksOf(completion, includeUsage)) yield Buffer.from(sseData(chunk));
  yield Buffer.from(sseData(doneData));
}

export function sseData(data: unknown): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}
