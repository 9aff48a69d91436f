import type { CallPiece, ChatPieces } from '../chat-pieces.js';
import type { FormEvent, Json } from '../form.js';

type PartType = 'output_text' | 'refusal' | 'reasoning_text';

/** Names of a part's text, and of its events. */
const partNames: Record<PartType, { text: string; event: string }> = {
  output_text: { text: 'text', event: 'response.output_text' },
  refusal: { text: 'refusal', event: 'response.refusal' },
  reasoning_text: { text: 'text', event: 'response.reasoning_text' },
};

interface Part {
  type: PartType;
  text: string;
  logprobs: unknown[];
}

type Item = { id: string } & (
  | { type: 'message' | 'reasoning'; parts: Part[] }
  | { type: 'function_call'; callId: string; name: string; arguments: string }
);
type Status = 'in_progress' | 'completed' | 'incomplete';

const prefixes = { message: 'msg', reasoning: 'rs', function_call: 'fc' };

/** The output items of a response, as the pieces of a completion make them. */
export class ResponseOutput {
  private readonly id: string;
  private readonly items: Item[] = [];
  /** Positions of the items: `message`, `reasoning`, or the index of a tool call. */
  private readonly indexes = new Map<string | number, number>();

  /** `id`: that of the response, from which the items have theirs. */
  constructor(id: string) {
    this.id = id;
  }

  add({ thoughts, text, refusal, logprobs, calls }: ChatPieces): FormEvent[] {
    return [
      ...(thoughts === '' ? [] : this.addText('reasoning', 'reasoning_text', thoughts, [])),
      ...(text === '' && logprobs.length === 0 ? [] : this.addText('message', 'output_text', text, logprobs)),
      ...(refusal === '' ? [] : this.addText('message', 'refusal', refusal, [])),
      ...calls.flatMap((call) => this.addCall(call)),
    ];
  }

  /** Completes the items; an answer without any gets an empty message, which clients wait for. */
  end(isIncomplete: boolean): FormEvent[] {
    const isSilent = this.items.every(({ type }) => type === 'reasoning');
    const empty = isSilent && !isIncomplete ? this.addText('message', 'output_text', '', []) : [];
    const ends = this.items.flatMap((item, at) => endOf(item, at, this.statusAt(at, isIncomplete)));
    return [...empty, ...ends];
  }

  /** The items so far; all of them are complete at the end of a whole answer. */
  itemsAt(end: 'complete' | 'incomplete' | null): Json[] {
    return this.items.map((item, at) =>
      shown(item, end === null ? 'in_progress' : this.statusAt(at, end === 'incomplete')),
    );
  }

  /** An answer that was cut broke off in its last item. */
  private statusAt(at: number, isIncomplete: boolean): Status {
    return isIncomplete && at === this.items.length - 1 ? 'incomplete' : 'completed';
  }

  private addText(of: 'message' | 'reasoning', type: PartType, piece: string, logprobs: unknown[]): FormEvent[] {
    const events: FormEvent[] = [];
    const index = this.indexOf(of, (id) => ({ id, type: of, parts: [] }), events);
    const item = this.items[index] as Extract<Item, { parts: Part[] }>;
    let at = item.parts.findIndex((part) => part.type === type);
    const where = () => ({ item_id: item.id, output_index: index, content_index: at });
    if (at === -1) {
      at = item.parts.push({ type, text: '', logprobs: [] }) - 1;
      events.push({ type: 'response.content_part.added', ...where(), part: shownPart(item.parts[at]!) });
    }
    const part = item.parts[at]!;
    part.text += piece;
    for (const token of logprobs) part.logprobs.push(token);
    const tokens = type === 'output_text' ? { logprobs } : {};
    if (piece !== '') events.push({ type: `${partNames[type].event}.delta`, ...where(), delta: piece, ...tokens });
    return events;
  }

  private addCall({ index: callIndex, id, name, arguments: piece }: CallPiece): FormEvent[] {
    const events: FormEvent[] = [];
    const index = this.indexOf(
      callIndex,
      (own) => ({ id: own, type: 'function_call', callId: id ?? own, name: name ?? '', arguments: '' }),
      events,
    );
    const item = this.items[index] as Extract<Item, { type: 'function_call' }>;
    if (item.name === '' && name !== null) item.name = name;
    item.arguments += piece;
    const where = { item_id: item.id, output_index: index };
    if (piece !== '') events.push({ type: 'response.function_call_arguments.delta', ...where, delta: piece });
    return events;
  }

  /** The position of an item, which is new at its first piece. */
  private indexOf(key: string | number, make: (id: string) => Item, events: FormEvent[]): number {
    const known = this.indexes.get(key);
    if (known !== undefined) return known;
    const index = this.items.length;
    const kind = typeof key === 'number' ? 'function_call' : (key as 'message' | 'reasoning');
    const item = make(`${prefixes[kind]}_${this.id}_${index}`);
    this.items.push(item);
    this.indexes.set(key, index);
    events.push({ type: 'response.output_item.added', output_index: index, item: shown(item, 'in_progress', true) });
    return index;
  }
}

function endOf(item: Item, index: number, status: Status): FormEvent[] {
  const where = { item_id: item.id, output_index: index };
  const done = { type: 'response.output_item.done', output_index: index, item: shown(item, status) };
  if (item.type === 'function_call') {
    const { name, arguments: args } = item;
    return [{ type: 'response.function_call_arguments.done', ...where, name, arguments: args }, done];
  }
  const parts = item.parts.flatMap((part, at) => {
    const { text, event } = partNames[part.type];
    const tokens = part.type === 'output_text' ? { logprobs: part.logprobs } : {};
    return [
      { type: `${event}.done`, ...where, content_index: at, [text]: part.text, ...tokens },
      { type: 'response.content_part.done', ...where, content_index: at, part: shownPart(part) },
    ];
  });
  return [...parts, done];
}

function shown(item: Item, status: Status, isNew = false): Json {
  const { id, type } = item;
  if (type === 'function_call') {
    return { id, type, call_id: item.callId, name: item.name, arguments: isNew ? '' : item.arguments, status };
  }
  const content = isNew ? [] : item.parts.map(shownPart);
  return type === 'message'
    ? { id, type, role: 'assistant', content, status }
    : { id, type, summary: [], content, status };
}

function shownPart({ type, text, logprobs }: Part): Json {
  const tokens = type === 'output_text' ? { annotations: [], logprobs } : {};
  return { type, [partNames[type].text]: text, ...tokens };
}
