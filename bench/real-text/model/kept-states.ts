/** Beginnings of chats, read piece by piece and kept in files, so that each is read once. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

type Token = number;

/** The part of a sequence that reads, saves and loads. */
export interface Reader {
  adaptStateToTokens(tokens: Token[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: Token[]): Promise<void>;
  saveStateToFile(file: string): Promise<unknown>;
  loadStateFromFile(file: string, options: { acceptRisk: true }): Promise<void>;
}

export interface Piece {
  text: string;
  tokens: readonly Token[];
}

export interface KeptStates {
  /** The reading of the next piece by another call; null: this call has to read it. */
  readElsewhere(pieces: readonly Piece[]): Promise<void> | null;
  /** Leaves the sequence with these pieces alone. */
  read(reader: Reader, pieces: readonly Piece[]): Promise<void>;
}

/** Fewer tokens are read again sooner than a file is loaded. */
const worthKeeping = 100;

/** Empties `folder`, and keeps there the states used last, of at most `most` tokens in total. */
export async function keepStates(folder: string, most: number): Promise<KeptStates> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  // By the text from the start; the last key is the one that was used last.
  const kept = new Map<string, { file: string; tokens: number }>();
  const reading = new Map<string, { done: Promise<void>; end: () => void }>();
  const held = new WeakMap<Reader, readonly string[]>();
  let count = 0;

  /** Marks the states of a chat as used, the shorter ones last: other chats share those. */
  function touch(keys: readonly string[]): void {
    for (const key of keys.toReversed()) {
      const state = kept.get(key);
      if (state && kept.delete(key)) kept.set(key, state);
    }
  }

  async function save(reader: Reader, key: string, tokens: number): Promise<void> {
    const file = join(folder, `${(count += 1)}`);
    await reader.saveStateToFile(file);
    kept.set(key, { file, tokens });
    let total = [...kept.values()].reduce((sum, state) => sum + state.tokens, 0);
    for (const [oldest, state] of kept) {
      if (total <= most) break;
      total -= state.tokens;
      kept.delete(oldest);
      await rm(state.file);
    }
  }

  async function readRest(
    reader: Reader,
    pieces: readonly Piece[],
    { keys, onRead }: { keys: readonly string[]; onRead: (key: string) => void },
  ): Promise<void> {
    const own = held.get(reader) ?? [];
    const different = keys.findIndex((key, at) => own[at] !== key);
    const ownPieces = different < 0 ? keys.length : different;
    const keptPieces = keys.findLastIndex((key) => kept.has(key)) + 1;
    const known = Math.max(ownPieces, keptPieces);
    held.delete(reader);
    touch(keys);
    if (keptPieces > ownPieces) await reader.loadStateFromFile(kept.get(keys[known - 1]!)!.file, { acceptRisk: true });
    else await reader.adaptStateToTokens(tokensOf(pieces.slice(0, known)), false);
    keys.slice(0, known).forEach(onRead);
    for (let at = known; at < pieces.length; at += 1) {
      await reader.evaluateWithoutGeneratingNewTokens([...pieces[at]!.tokens]);
      const tokens = tokensOf(pieces.slice(0, at + 1)).length;
      if (tokens >= worthKeeping) await save(reader, keys[at]!, tokens);
      touch(keys);
      onRead(keys[at]!);
    }
    held.set(reader, keys);
  }

  return {
    readElsewhere(pieces) {
      const next = keysOf(pieces).find((key) => reading.has(key));
      return next === undefined ? null : reading.get(next)!.done;
    },
    async read(reader, pieces) {
      const keys = keysOf(pieces);
      const added = keys.filter((key) => !kept.has(key) && !reading.has(key));
      const own = new Map(added.map((key) => [key, ended()]));
      for (const [key, entry] of own) reading.set(key, entry);
      const onRead = (key: string) => {
        own.get(key)?.end();
        if (reading.get(key) === own.get(key)) reading.delete(key);
      };
      // Those that wait try themselves after a failure.
      await readRest(reader, pieces, { keys, onRead }).finally(() => added.forEach(onRead));
    },
  };
}

function ended() {
  let end = () => {};
  const done = new Promise<void>((resolve) => (end = resolve));
  return { done, end };
}

function keysOf(pieces: readonly Piece[]): string[] {
  let text = '';
  return pieces.map((piece) => (text += piece.text));
}

function tokensOf(pieces: readonly Piece[]): Token[] {
  return pieces.flatMap(({ tokens }) => [...tokens]);
}
