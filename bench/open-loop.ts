import { setTimeout as delay } from 'node:timers/promises';
import { now } from './clock.js';

/** When call `index` is due, in milliseconds from the beginning: a constant rate, whatever the answers do. */
export function dueMs(index: number, perSecond: number): number {
  return (index * 1_000) / perSecond;
}

/**
 * Calls `send` at a constant rate for `seconds`, without waiting for answers. Each gets the moment when it was due
 * (`clock.now`): a latency that is counted from there also counts the time for which the caller itself was late.
 * Resolves when all calls have; rejects with the first failure.
 */
export async function openLoop(
  perSecond: number,
  seconds: number,
  send: (dueAt: number, index: number) => Promise<void>,
): Promise<void> {
  const startedAt = now();
  const calls: Promise<void>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const dueAt = startedAt + dueMs(index, perSecond);
    const early = dueAt - now();
    if (early > 0) await delay(early);
    const call = send(dueAt, index);
    // Awaited below; until then a failure must not end the process.
    call.catch(() => undefined);
    calls.push(call);
  }
  await Promise.all(calls);
}
