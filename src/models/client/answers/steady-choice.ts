import { randomUUID } from 'node:crypto';
import { asObject } from '../../../util/json.js';

type Json = Record<string, unknown>;

/** A tool call of a stream so far. */
interface ToolCall {
  id: string | null;
  name: string | null;
  text: string;
  isNamed?: boolean;
}

/** Longer arguments are not looked at again: each look costs their length. */
const maxCompared = 65_536;

/** The state of one choice of a stream, by which its chunks get OpenAI's form. */
export class SteadyChoice {
  /** Texts so far, by field of the message. */
  private readonly texts = new Map<string, string>();
  private readonly calls: ToolCall[] = [];
  private readonly byId = new Map<string, number>();
  private role: string | null = null;
  /** Whether a text has come in a delta: then a message repeats it. */
  private hasDelta = false;
  /** The call that the provider means by an index: the last one under it. */
  private readonly slots = new Map<unknown, number>();

  /** Corrects a chunk's choice in place; whether it was in OpenAI's form already. */
  correct(choice: Json): boolean {
    let same = true;
    const given = asObject(choice['delta']);
    const message = asObject(choice['message']) ?? textMessage(choice['text']);
    const isDelta = !message || !isEmpty(given);
    if (!given || message || 'message' in choice) {
      choice['delta'] = isDelta ? (given ?? {}) : this.rest(message);
      delete choice['message'];
      delete choice['text'];
      same = false;
    }
    const delta = choice['delta'] as Json;
    if (this.role !== null && wordOf(delta['role'])) {
      delete delta['role'];
      same = false;
    }
    this.role ??= wordOf(delta['role']);
    for (const [name, value] of Object.entries(delta)) {
      if (typeof value !== 'string' || name === 'role') continue;
      this.texts.set(name, (this.texts.get(name) ?? '') + value);
      this.hasDelta ||= isDelta && value !== '';
    }
    const one = asObject(delta['tool_calls']);
    if (one) [delta['tool_calls'], same] = [[one], false];
    if (Array.isArray(delta['tool_calls'])) {
      if (!this.correctCalls(delta)) same = false;
    }
    return same;
  }

  /**
   * What a message adds to what came before it: the rest, if it holds that; else, without deltas,
   * itself, as it is a piece.
   */
  private rest(message: Json): Json {
    const delta: Json = {};
    for (const [name, value] of Object.entries(message)) {
      const before = this.texts.get(name);
      if (typeof value === 'string' && before !== undefined) {
        const isSoFar = value.startsWith(before) || value.trim() === before.trim();
        if (isSoFar && value.length > before.length) delta[name] = value.slice(before.length);
        else if (!isSoFar && !this.hasDelta) delta[name] = value;
      } else if (name !== 'tool_calls' || this.calls.length === 0) delta[name] = value;
    }
    return delta;
  }

  private correctCalls(delta: Json): boolean {
    const given = delta['tool_calls'] as unknown[];
    const before = JSON.stringify(given);
    const first = this.calls.length;
    delta['tool_calls'] = given
      .map(asObject)
      .filter((call) => call !== null)
      .map((call, at) => this.corrected(call, at, first));
    return JSON.stringify(delta['tool_calls']) === before;
  }

  private corrected(given: Json, at: number, first: number): Json {
    const fn = asObject(given['function']);
    const args = fn?.['arguments'];
    const text = argumentsOf(args);
    const id = idOf(given['id']);
    const name = wordOf(fn?.['name']);
    const known = this.slotOf(given['index'] ?? null, { id, name, text }, at, first);
    const slot = known ?? this.calls.length;
    const call = this.calls[slot] ?? { id, name, text: '' };
    this.calls[slot] = call;
    this.slots.set(given['index'] ?? null, slot);
    const isRepeated = text !== '' && text === call.text && isWhole(text);
    const added = isRepeated ? '' : text;
    call.text += added;
    call.name ??= name;
    const corrected: Json = { ...given, index: slot };
    call.id ??= id;
    if (call.id !== null && !this.byId.has(call.id)) this.byId.set(call.id, slot);
    const isTaken = id !== null && this.byId.get(id) !== slot;
    // Only the first piece has id and name: some clients join repeated ones.
    if (known === null) corrected['id'] = id === null || isTaken ? newId() : id;
    else if (id !== null) delete corrected['id'];
    const said: Json = { ...fn };
    if (known !== null && name !== null && name === call.name && call.isNamed) delete said['name'];
    call.isNamed ||= name !== null;
    if (args !== undefined && args !== null) said['arguments'] = added;
    if (fn) corrected['function'] = said;
    if (known === null && fn && !wordOf(given['type'])) corrected['type'] = 'function';
    return corrected;
  }

  /**
   * The call that a piece continues; null: it begins one. By its id, else its index; a name and
   * arguments after whole ones begin another call, whatever the index.
   */
  private slotOf(index: unknown, { id, name, text }: ToolCall, at: number, first: number): number | null {
    const byId = id === null ? undefined : this.byId.get(id);
    const ofId = byId === undefined ? undefined : this.calls[byId];
    const known = this.slots.get(index);
    // Some give every call one id: whole arguments under a new index are another call.
    const isCopy =
      ofId && index !== null && known !== byId && name !== null && isWhole(ofId.text) && text !== ofId.text;
    if (byId !== undefined && !isCopy) return byId;
    if (isCopy) return known ?? null;
    const slot = index === null ? this.calls.length - 1 : (this.slots.get(index) ?? -1);
    const call = this.calls[slot];
    if (!call) return null;
    const isOther = id !== null && call.id !== null && name !== null;
    const isNext = text !== '' && isWhole(call.text) && (name !== null || id !== null);
    // Calls of one list without indices are different ones.
    const isBeside = index === null && at > 0 && slot >= first && name !== null;
    return isOther || isNext || isBeside ? null : slot;
  }
}

function isEmpty(delta: Json | null): boolean {
  const { role: _role, ...rest } = delta ?? {};
  return Object.values(rest).every((value) => value === null || value === '' || value === undefined);
}

/** A choice of the older form for prompts. */
function textMessage(text: unknown): Json | null {
  return typeof text === 'string' ? { role: 'assistant', content: text } : null;
}

/** Ollama's own form has an object in place of the text. */
function argumentsOf(value: unknown): string {
  return typeof value === 'string' ? value : asObject(value) ? JSON.stringify(value) : '';
}

function idOf(value: unknown): string | null {
  return wordOf(typeof value === 'number' ? String(value) : value);
}

const newId = () => `call_${randomUUID().replaceAll('-', '')}`;

/** Gives the tool calls of a whole message ids and arguments as text; whether they had them. */
export function steadyCalls(message: Json | null): boolean {
  const given = message?.['tool_calls'];
  if (!message || !given) return true;
  const before = JSON.stringify(given);
  const list = (Array.isArray(given) ? given : [given]).map(asObject).filter((call) => call !== null);
  const calls = list.map((call) => {
    const fn = asObject(call['function']);
    const isText = typeof fn?.['arguments'] === 'string' || fn?.['arguments'] == null;
    const args = isText ? {} : { function: { ...fn, arguments: argumentsOf(fn['arguments']) } };
    return { ...call, id: idOf(call['id']) ?? newId(), ...args };
  });
  message['tool_calls'] = calls;
  return JSON.stringify(calls) === before;
}

function wordOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Whether a text is a whole JSON object, after which arguments cannot go on. */
function isWhole(text: string): boolean {
  if (!/\}\s*$/.test(text.slice(-8)) || text.length > maxCompared) return false;
  try {
    return asObject(JSON.parse(text)) !== null;
  } catch {
    return false;
  }
}
