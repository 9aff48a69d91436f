import { doneData, sseData } from './chat-stream.js';
import { mask, type Occurrence, type Redactor } from '../../../clients/net/redact.js';
import { SseSplitter, type SseBlock } from '../../../clients/net/sse.js';
import { parseObject } from '../../../clients/net/untrusted.js';
import { asObject } from '../../../util/json.js';

type Json = Record<string, unknown>;

const maxDepth = 64;
/** More events are not held back: a field whose text never goes on would stop the others. */
const maxHeldEvents = 1_000;

/** A streamed chat completion without the secrets; a stream without them passes unchanged. */
export async function* redactedStream(bytes: AsyncIterable<Uint8Array>, redactor: Redactor): AsyncGenerator<Buffer> {
  const splitter = new SseSplitter();
  const stream = new StreamRedactor(redactor);
  try {
    for await (const chunk of bytes) {
      const text = splitter.push(chunk).map((block) => stream.push(block));
      yield* asBytes(text.join(''));
    }
  } catch (error) {
    yield* asBytes(stream.end());
    throw error;
  }
  const last = splitter.end();
  yield* asBytes((last ? stream.push(last) : '') + stream.end());
}

function* asBytes(text: string): Generator<Buffer> {
  if (text !== '') yield Buffer.from(text);
}

/** A completion, or a chunk of one, without the secrets and the `logprobs` that spell its text. */
export function redactedCompletion(completion: Json, redactor: Redactor): unknown {
  for (const choice of choicesOf(completion)) delete choice['logprobs'];
  return redactor.value(completion);
}

/** A piece of a field's text: it starts `start` characters into the field. */
interface Piece {
  parent: Json;
  name: string;
  text: string;
  start: number;
  /** Ranges to hide; the mask stands for a secret in the first piece that has a part of it. */
  hidden: (Occurrence & { replacement: string })[];
}

/** An event that may contain a part of a secret. */
interface HeldEvent {
  raw: string;
  chunk: Json;
  /** By field. */
  pieces: Map<string, Piece>;
}

/** The text of a field so far, such as the content of a choice, whose pieces the events bring. */
interface FieldText {
  length: number;
  /** The end that may be a part of a secret. */
  tail: string;
}

/**
 * Hides secrets in the events of a stream, also those that are split over events: it holds back
 * events from the beginning of a possible secret on, until the text goes on differently.
 */
class StreamRedactor {
  private readonly redactor: Redactor;
  private readonly fields = new Map<string, FieldText>();
  /** By choice, the fields whose text may end with the beginning of a secret. */
  private readonly open = new Map<number, Set<string>>();
  private held: HeldEvent[] = [];

  constructor(redactor: Redactor) {
    this.redactor = redactor;
  }

  /** Takes an event, and returns the text of those that can go on. */
  push({ raw, data }: SseBlock): string {
    if (data === doneData) return this.end() + raw;
    const chunk = data === null ? null : parseObject(data);
    if (!chunk) return this.redactor.text(raw);
    const event: HeldEvent = { raw, chunk, pieces: new Map() };
    this.held.push(event);
    for (const choice of choicesOf(chunk)) this.readChoice(event, choice);
    return this.open.size === 0 || this.held.length > maxHeldEvents ? this.end() : '';
  }

  /** The text of the events held back. */
  end(): string {
    this.open.clear();
    return this.held
      .splice(0)
      .map((event) => this.textOf(event))
      .join('');
  }

  private readChoice(event: HeldEvent, choice: Json): void {
    const index = typeof choice['index'] === 'number' ? choice['index'] : 0;
    const open = this.open.get(index) ?? new Set();
    for (const [field, parent, name] of textsIn(choice['delta'], String(index))) {
      const mayGoOn = this.readPiece(event, field, {
        parent,
        name,
        text: parent[name] as string,
        start: 0,
        hidden: [],
      });
      if (mayGoOn) open.add(field);
      else open.delete(field);
    }
    if (open.size > 0 && choice['finish_reason'] == null) this.open.set(index, open);
    else this.open.delete(index);
  }

  /** Finds the secrets that end in a piece; whether its end may begin another one. */
  private readPiece(event: HeldEvent, field: string, piece: Piece): boolean {
    const { length, tail } = this.fields.get(field) ?? { length: 0, tail: '' };
    piece.start = length;
    event.pieces.set(field, piece);
    const text = tail + piece.text;
    const offset = length - tail.length;
    let rest = 0;
    for (const { start, end } of this.redactor.occurrences(text)) {
      this.hide(field, { start: offset + start, end: offset + end });
      rest = end;
    }
    const left = text.slice(Math.max(rest, text.length - this.redactor.longest + 1));
    this.fields.set(field, { length: length + piece.text.length, tail: left });
    return this.redactor.mayBeginAtEnd(left);
  }

  private hide(field: string, { start, end }: Occurrence): void {
    let replacement = mask;
    for (const { pieces } of this.held) {
      const piece = pieces.get(field);
      if (!piece) continue;
      const from = Math.max(0, start - piece.start);
      const to = Math.min(piece.text.length, end - piece.start);
      if (from >= to) continue;
      piece.hidden.push({ start: from, end: to, replacement });
      replacement = '';
    }
  }

  private textOf({ raw, chunk, pieces }: HeldEvent): string {
    const changed = [...pieces.values()].filter(({ hidden }) => hidden.length > 0);
    if (changed.length === 0 && !this.redactor.isIn(raw)) return raw;
    for (const { parent, name, text, hidden } of changed) {
      let at = 0;
      let visible = '';
      for (const { start, end, replacement } of hidden) {
        visible += text.slice(at, start) + replacement;
        at = end;
      }
      parent[name] = visible + text.slice(at);
    }
    return sseData(redactedCompletion(chunk, this.redactor));
  }
}

function choicesOf(chunk: Json): Json[] {
  const choices: unknown = chunk['choices'];
  return Array.isArray(choices) ? choices.map(asObject).filter((choice) => choice !== null) : [];
}

/** The texts of a delta: field, and where the text is. Items of lists go by their `index`. */
function* textsIn(value: unknown, path: string, depth = maxDepth): Generator<[string, Json, string]> {
  if (typeof value !== 'object' || value === null || depth === 0) return;
  for (const [name, item] of Object.entries(value)) {
    const index = Array.isArray(value) ? (asObject(item)?.['index'] ?? name) : name;
    const field = `${path}/${String(index)}`;
    if (typeof item === 'string') yield [field, value as Json, name];
    else yield* textsIn(item, field, depth - 1);
  }
}
