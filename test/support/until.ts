import { setTimeout as delay } from 'node:timers/promises';

const [shortestMs, longestMs] = [10, 100];

/**
 * Polls until the condition is neither null, undefined nor false. Errors count as false. Without
 * `everyMs` the pauses grow: looks cost the service as much as its work.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T> | T,
  seconds = 30,
  everyMs?: number,
): Promise<Exclude<NonNullable<T>, false>> {
  const deadline = Date.now() + seconds * 1_000;
  let last: unknown;
  let pauseMs = everyMs ?? shortestMs;
  while (Date.now() < deadline) {
    try {
      const found = await look();
      if (found !== null && found !== undefined && found !== false) return found as Exclude<NonNullable<T>, false>;
      last = found;
    } catch (error) {
      last = error;
    }
    await delay(pauseMs);
    if (everyMs === undefined) pauseMs = Math.min(1.3 * pauseMs, longestMs);
  }
  throw new Error(`waited ${seconds} s in vain until ${what}`, { cause: last });
}
