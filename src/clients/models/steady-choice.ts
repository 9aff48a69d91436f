import { asObject } from '../../util/json.js';

type Json = Record<string, unknown>;

/** A tool call of a stream so far. */
interface ToolCall {
  id: string | null;
  name: string | null;
  text: string;
}

/** Longer arguments are not looked at again: each look costs their length. */
const maxCompared = 65_536;

/** The state of one choice of a stream, by which its chunks get OpenAI's form. */
export class SteadyChoice {
  /** Texts so far, by field of the message. */
  private readonly texts = new Map<string, string>();
  private readonly calls: ToolCall[] = [];
  private readonly byId = new Map<string, number>();
  /** The call that the provider means by an index: the last one under it. */
  private readonly places = new Map<unknown, number>();

  /** Corrects a chunk's choice in place; whether it was in OpenAI's form already. */
  correct(choice: Json): boolean {
    let same = true;
    const given = asObject(choice['delta']);
    const message = asObject(choice['message']);
    if (!given || message || 'message' in choice) {
      choice['delta'] = message && isEmpty(given) ? this.rest(message) : (given ?? {});
      delete choice['message'];
      same = false;
    }
    const delta = choice['delta'] as Json;
    for (const [name, value] of Object.entries(delta)) {
      if (typeof value === 'string') this.texts.set(name, (this.texts.get(name) ?? '') + value);
    }
    if (Array.isArray(delta['tool_calls'])) {
      if (!this.correctCalls(delta)) same = false;
    }
    return same;
  }

  /** What a whole message adds to the deltas before it. */
  private rest(message: Json): Json {
    const delta: Json = {};
    for (const [name, value] of Object.entries(message)) {
      const before = this.texts.get(name);
      if (typeof value === 'string' && before !== undefined) {
        if (value.length > before.length && value.startsWith(before)) delta[name] = value.slice(before.length);
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
    // Ollama's own form has an object here.
    const text = typeof args === 'string' ? args : asObject(args) ? JSON.stringify(args) : '';
    const id = wordOf(given['id']);
    const name = wordOf(fn?.['name']);
    const known = this.slotOf(given['index'] ?? null, { id, name, text }, at, first);
    const slot = known ?? this.calls.length;
    const call = this.calls[slot] ?? { id, name, text: '' };
    this.calls[slot] = call;
    this.places.set(given['index'] ?? null, slot);
    const isRepeated = text !== '' && text === call.text && isWhole(text);
    const added = isRepeated ? '' : text;
    call.text += added;
    call.name ??= name;
    const corrected: Json = { ...given, index: slot };
    if (call.id !== null && id !== null && id !== call.id) delete corrected['id'];
    call.id ??= id;
    if (call.id !== null) this.byId.set(call.id, slot);
    if (fn && args !== undefined && args !== null && added !== args)
      corrected['function'] = { ...fn, arguments: added };
    if (known === null && fn && !wordOf(given['type'])) corrected['type'] = 'function';
    return corrected;
  }

  /**
   * The call that a piece continues; null: it begins one. By its id, else its index; a name and
   * arguments after whole ones begin another call, whatever the index.
   */
  private slotOf(index: unknown, { id, name, text }: ToolCall, at: number, first: number): number | null {
    const byId = id === null ? undefined : this.byId.get(id);
    if (byId !== undefined) return byId;
    const slot = index === null ? this.calls.length - 1 : (this.places.get(index) ?? -1);
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
