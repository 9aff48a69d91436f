import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { laterUsage, usageIn } from './usage.js';
import { asObject } from '../../../util/json.js';

type Json = Record<string, unknown>;

/** Final event of a stream of chat completion chunks. */
export const doneData = '[DONE]';

/** Whether a chunk carries usage alone: OpenAI's last chunk with `include_usage`. */
export function isUsageChunk(chunk: Json): boolean {
  const { choices } = chunk;
  const isBare = choices === null || choices === undefined || (Array.isArray(choices) && choices.length === 0);
  return isBare && usageIn(chunk) !== null;
}

/**
 * Folds the chunks of a steady stream into the completion of the same call without `stream`: the
 * texts of an answer are joined, lists merged by `index`; of any other field the last value counts
 * that is neither null nor empty. Each chunk costs its own size.
 */
export class StreamFold {
  private head: Json | null = null;
  private usage: Json | null = null;
  private readonly choices = new Map<number, Json>();
  private readonly positions = new WeakMap<unknown[], Map<unknown, number>>();

  /** Takes a chunk over: later chunks change its objects. */
  add(chunk: Json): void {
    const { choices, usage, ...head } = chunk;
    this.head ??= {};
    for (const [name, value] of ownFields(head)) {
      if (!isNothing(value) || !Object.hasOwn(this.head, name)) this.head[name] = value;
    }
    this.usage = laterUsage(this.usage, usage);
    for (const item of Array.isArray(choices) ? choices : []) this.addChoice(asObject(item) ?? {});
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

  private addChoice({ index, delta, ...rest }: Json): void {
    const at = typeof index === 'number' ? index : 0;
    let choice = this.choices.get(at);
    if (!choice) this.choices.set(at, (choice = { index: at, message: {}, finish_reason: null }));
    for (const [name, value] of ownFields(rest)) {
      if (isNothing(value)) continue;
      choice[name] = name === 'logprobs' ? this.merge(choice[name], value) : value;
    }
    choice['message'] = this.merge(choice['message'], asObject(delta) ?? {});
  }

  /** The merged value; changes `before` in place. */
  private merge(before: unknown, now: unknown, key = ''): unknown {
    if (now === undefined || now === null) return before ?? now;
    if (typeof before === 'string' && typeof now === 'string') {
      if (joined.has(key)) return before + now;
      return now === '' ? before : now;
    }
    if (key === 'content' && before !== '' && Array.isArray(before) !== Array.isArray(now)) {
      return [...asParts(before), ...asParts(now)];
    }
    if (Array.isArray(before) && Array.isArray(now)) {
      return this.mergeLists(before, whole.has(key) ? now.filter((item) => !includes(before, item)) : now);
    }
    const [old, next] = [asObject(before), asObject(now)];
    if (!old || !next) return now;
    for (const [name, value] of ownFields(next)) {
      old[name] = this.merge(Object.hasOwn(old, name) ? old[name] : undefined, value, name);
    }
    return old;
  }

  private mergeLists(before: unknown[], now: unknown[]): unknown[] {
    const positions = this.positionsOf(before);
    for (const item of now) {
      const index = asObject(item)?.['index'];
      const at = typeof index === 'number' ? positions.get(index) : undefined;
      if (at !== undefined) before[at] = this.merge(before[at], item);
      else {
        if (typeof index === 'number') positions.set(index, before.length);
        before.push(item);
      }
    }
    return before;
  }

  /** Position of the first item with each `index`. */
  private positionsOf(list: unknown[]): Map<unknown, number> {
    let positions = this.positions.get(list);
    if (!positions) {
      positions = new Map();
      for (const [at, item] of list.entries()) {
        const index = asObject(item)?.['index'];
        if (typeof index === 'number' && !positions.has(index)) positions.set(index, at);
      }
      this.positions.set(list, positions);
    }
    return positions;
  }
}

/** The texts of an answer that come in pieces; other texts are whole, and may be repeated. */
const joined = new Set([
  'content',
  'refusal',
  'arguments',
  'input',
  'text',
  'data',
  'transcript',
  'summary',
  'signature',
  'reasoning',
  'reasoning_content',
  'reasoning_text',
  'thinking',
  'thought',
  'thoughts',
  'code',
  'output',
]);

/** Lists that some providers send as they are so far. */
const whole = new Set(['annotations', 'citations', 'images', 'search_results', 'sources']);

function includes(list: unknown[], item: unknown): boolean {
  if (list.length > 1_000) return false;
  const text = JSON.stringify(item);
  return list.some((other) => JSON.stringify(other) === text);
}

/** A content as a list of parts. */
function asParts(content: unknown): unknown[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === '';
}

/** The fields of a parsed object that an assignment cannot turn into its prototype. */
function ownFields(object: Json): [string, unknown][] {
  return Object.entries(object).filter(([name]) => name !== '__proto__');
}

const eventsAtOnce = 256;

/** Splits a message into pieces of 24 code points; half a surrogate pair is not text. */
const pieces = /[^]{1,24}/gu;

/** A completion as stream chunks; the usage chunk is last where requested. */
export function* chunksOf(completion: Json, includeUsage: boolean): Generator<Json> {
  const { choices, usage, ...rest } = completion;
  const head = { ...rest, object: 'chat.completion.chunk' };
  const list = (Array.isArray(choices) ? choices : []).map((item) => asObject(item) ?? {});
  for (const { index, message, logprobs, finish_reason: finish, ...others } of list) {
    const { content, ...fields } = asObject(message) ?? {};
    const delta = {
      ...fields,
      ...(Array.isArray(fields['tool_calls']) && { tool_calls: indexed(fields['tool_calls']) }),
    };
    const text = typeof content === 'string' ? content : null;
    const first = text === null ? (content ?? null) : '';
    yield {
      ...head,
      choices: [{ index, delta: { ...delta, content: first }, ...others, finish_reason: null }],
    };
    // Not in the first chunk of a choice, where OpenAI's client takes them twice.
    if (logprobs) yield { ...head, choices: [{ index, delta: {}, logprobs, finish_reason: null }] };
    for (const [piece] of (text ?? '').matchAll(pieces)) {
      yield { ...head, choices: [{ index, delta: { content: piece }, finish_reason: null }] };
    }
    yield { ...head, choices: [{ index, delta: {}, finish_reason: finish ?? 'stop' }] };
  }
  if (includeUsage && usage !== undefined) yield { ...head, choices: [], usage };
}

function indexed(calls: unknown[]): unknown[] {
  return calls.map((call, index) => ({ ...asObject(call), index }));
}

export function* eventsOf(completion: Json, includeUsage: boolean): Generator<Buffer> {
  for (const chunk of chunksOf(completion, includeUsage)) yield Buffer.from(sseData(chunk));
  yield Buffer.from(sseData(doneData));
}

/** The events as a body. */
export function streamOf(completion: Json, includeUsage: boolean): Readable {
  return Readable.from(paced(eventsOf(completion, includeUsage)));
}

/** Pauses between events, because a reader in this process never waits. */
export async function* paced(events: Iterable<Buffer>): AsyncGenerator<Buffer> {
  let sent = 0;
  for (const event of events) {
    yield event;
    sent += 1;
    if (sent % eventsAtOnce === 0) await nextTurn();
  }
}

export function sseData(data: unknown): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}
