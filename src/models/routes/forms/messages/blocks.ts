import type { CallPiece, ChatPieces } from '../chat-pieces.js';
import { asObject } from '../../../../util/json.js';
import type { FormEvent, Json } from '../form.js';

/** What a block holds: thoughts, text, or the tool call of an index. */
type Lane = 'thinking' | 'text' | number;

interface Block {
  lane: Lane;
  text: string;
  id: string;
  name: string;
}

interface Piece extends Pick<Block, 'id' | 'name'> {
  lane: Lane;
  text: string;
}

/**
 * The content blocks of a message, as the pieces of a completion make them. Blocks come one after
 * the other: a piece for another block waits for the end while a tool call is without its end.
 */
export class MessageBlocks {
  private readonly blocks: Block[] = [];
  /** The calls that have a block. */
  private readonly called = new Set<Lane>();
  private readonly waiting = new Map<Lane, Piece[]>();
  private readonly showsThoughts: boolean;
  private isOpen = false;

  constructor(showsThoughts: boolean) {
    this.showsThoughts = showsThoughts;
  }

  get callsTools(): boolean {
    return this.called.size > 0;
  }

  add({ thoughts, text, refusal, calls }: ChatPieces): FormEvent[] {
    const pieces = [
      ...(this.showsThoughts ? [textPiece('thinking', thoughts)] : []),
      textPiece('text', text),
      textPiece('text', refusal),
    ].filter((piece) => piece.text !== '');
    return [...pieces, ...calls.map(callPiece)].flatMap((piece) => this.addPiece(piece));
  }

  /** Closes the last block, after those that waited. */
  end(): FormEvent[] {
    const waited = [...this.waiting.values()].flat();
    return [...waited.flatMap((piece) => this.put(piece)), ...this.close()];
  }

  content(): Json[] {
    return this.blocks.map(contentOf);
  }

  private addPiece(piece: Piece): FormEvent[] {
    const current = this.blocks.at(-1);
    const isOther = current !== undefined && current.lane !== piece.lane;
    // A call that is whole may get an empty piece.
    if (isOther && this.called.has(piece.lane) && piece.text.trim() === '') return [];
    const isCut = isOther && typeof current.lane === 'number' && !this.isWhole(current);
    if (!isCut) return this.put(piece);
    const waiting = this.waiting.get(piece.lane);
    if (waiting) waiting.push(piece);
    else this.waiting.set(piece.lane, [piece]);
    return [];
  }

  /** Whether nothing of a call can follow; after the first wait nothing is whole before the end. */
  private isWhole({ text }: Block): boolean {
    return this.waiting.size === 0 && inputOf(text) !== null;
  }

  private put({ lane, text, id, name }: Piece): FormEvent[] {
    const events: FormEvent[] = [];
    let block = this.blocks.at(-1);
    if (block?.lane !== lane) {
      events.push(...this.close());
      block = { lane, text: '', id, name };
      this.blocks.push(block);
      if (typeof lane === 'number') this.called.add(lane);
      this.isOpen = true;
      events.push({ type: 'content_block_start', index: this.blocks.length - 1, content_block: startOf(block) });
    }
    block.text += text;
    if (block.name === '') block.name = name;
    if (text !== '') {
      events.push({ type: 'content_block_delta', index: this.blocks.length - 1, delta: deltaOf(lane, text) });
    }
    return events;
  }

  private close(): FormEvent[] {
    const wasOpen = this.isOpen;
    this.isOpen = false;
    return wasOpen ? [{ type: 'content_block_stop', index: this.blocks.length - 1 }] : [];
  }
}

const textPiece = (lane: Lane, text: string): Piece => ({ lane, text, id: '', name: '' });

function callPiece({ index, id, name, arguments: text }: CallPiece): Piece {
  return { lane: index, text, id: id ?? `call_${index}`, name: name ?? '' };
}

function startOf({ lane, id, name }: Block): Json {
  if (lane === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  if (lane === 'text') return { type: 'text', text: '' };
  return { type: 'tool_use', id, name, input: {} };
}

function deltaOf(lane: Lane, text: string): Json {
  if (lane === 'thinking') return { type: 'thinking_delta', thinking: text };
  return lane === 'text' ? { type: 'text_delta', text } : { type: 'input_json_delta', partial_json: text };
}

function contentOf({ lane, text, id, name }: Block): Json {
  if (lane === 'thinking') return { type: 'thinking', thinking: text, signature: '' };
  if (lane === 'text') return { type: 'text', text };
  // The name that Anthropic proposes for arguments that are not JSON.
  const input = text.trim() === '' ? {} : (inputOf(text) ?? { INVALID_JSON: text });
  return { type: 'tool_use', id, name, input };
}

/** The arguments of a call; null: they are not a whole object. */
function inputOf(text: string): Json | null {
  try {
    return asObject(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
