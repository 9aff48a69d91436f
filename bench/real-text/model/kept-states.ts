/** Beginnings of chats that a model has read, kept in files, so that each is read once. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

type Token = number;

/** The part of a sequence that reads, saves and loads. */
export interface Reader {
  readonly contextTokens: readonly Token[];
  clearHistory(): Promise<void>;
  adaptStateToTokens(tokens: Token[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: Token[]): Promise<void>;
  saveStateToFile(file: string): Promise<unknown>;
  loadStateFromFile(file: string, options: { acceptRisk: true }): Promise<void>;
}

export interface KeptStates {
  /** The reading of this beginning that another call has under way. */
  readElsewhere(beginning: string): Promise<void> | null;
  /** Leaves the sequence with these tokens alone, read in one piece. */
  read(reader: Reader, beginning: string, tokens: readonly Token[]): Promise<void>;
}

/** Fewer tokens are read again sooner than a file is loaded. */
const worthKeeping = 100;

/** Empties `folder`, and keeps the `most` states used last there: 29 kB a token of the 1.5B. */
export async function keepStates(folder: string, most: number): Promise<KeptStates> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  // The last key is the one that was used last.
  const kept = new Map<string, string>();
  const reading = new Map<string, Promise<void>>();
  let count = 0;

  async function readOrLoad(reader: Reader, beginning: string, tokens: readonly Token[]): Promise<void> {
    if (tokens.every((token, at) => reader.contextTokens[at] === token)) {
      await reader.adaptStateToTokens([...tokens], false);
      return;
    }
    const known = kept.get(beginning);
    if (known !== undefined) {
      kept.delete(beginning);
      kept.set(beginning, known);
      await reader.loadStateFromFile(known, { acceptRisk: true });
      return;
    }
    await reader.clearHistory();
    await reader.evaluateWithoutGeneratingNewTokens([...tokens]);
    if (tokens.length < worthKeeping) return;
    const file = join(folder, `${(count += 1)}`);
    await reader.saveStateToFile(file);
    kept.set(beginning, file);
    for (const [oldest, old] of [...kept].slice(0, -most)) {
      kept.delete(oldest);
      await rm(old);
    }
  }

  return {
    readElsewhere: (beginning) => reading.get(beginning) ?? null,
    async read(reader, beginning, tokens) {
      const done = readOrLoad(reader, beginning, tokens);
      reading.set(beginning, done);
      await done.finally(() => reading.delete(beginning));
    },
  };
}
