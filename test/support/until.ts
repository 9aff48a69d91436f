import { setTimeout as delay } from 'node:timers/promises';

/** Polls until the condition is neither null, undefined nor false. Errors count as false. */
export async function until<T>(
  what: string,
  look: () => Promise<T> | T,
  seconds = 30,
  everyMs = 20,
): Promise<Exclude<NonNullable<T>, false>> {
  const deadline = Date.now() + seconds * 1_000;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      const found = await look();
      if (found !== null && found !== undefined && found !== false) return found as Exclude<NonNullable<T>, false>;
      last = found;
    } catch (error) {
      last = error;
    }
    await delay(everyMs);
  }
  throw new Error(`waited ${seconds} s in vain until ${what}`, { cause: last });
}
