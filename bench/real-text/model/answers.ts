/** Answers of a model, kept in a file by model, messages and parameters. */
import { createHash } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import type { Generated } from './llama.js';

export interface Answers {
  /** The kept answer, else one that is made now; equal questions at a time are asked once. */
  of(question: unknown, make: () => Promise<Generated>): Promise<Generated>;
}

/** `file` null: kept for this process only. */
export async function openAnswers(file: string | null): Promise<Answers> {
  const kept = new Map<string, Promise<Generated>>();
  for (const [key, answer] of file === null ? [] : await readAnswers(file)) kept.set(key, Promise.resolve(answer));
  return {
    of(question, make) {
      const key = createHash('sha256').update(JSON.stringify(question)).digest('base64url');
      const known = kept.get(key);
      if (known) return known;
      const made = make();
      kept.set(key, made);
      return made.then(
        async (answer) => {
          if (file !== null) await appendFile(file, `${JSON.stringify([key, answer])}\n`);
          return answer;
        },
        (error: unknown) => {
          kept.delete(key);
          throw error;
        },
      );
    },
  };
}

async function readAnswers(file: string): Promise<[string, Generated][]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  // A line without its end was cut off while it was written.
  const lines = text.split('\n').filter((line) => line.endsWith(']'));
  return lines.map((line) => JSON.parse(line) as [string, Generated]);
}
