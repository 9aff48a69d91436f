import { setTimeout as delay } from 'node:timers/promises';
import { now } from './clock.js';

/** Due time of call `index`, in milliseconds from the start, at a constant rate. */
export function dueMs(index: number, perSecond: number): number {
  return (index * 1_000) / perSecond;
}

/**
 * Calls `send` at a constant rate without waiting for answers, with each call's due time, so that
 * latencies include delays of the caller. Rejects with the first failure.
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
    // A timer may fire up to a millisecond early.
    for (let early = dueAt - now(); early > 0; early = dueAt - now()) await delay(early);
    const call = send(dueAt, index);
    // Awaited below; until then a rejection must not end the process.
    call.catch(() => undefined);
    calls.push(call);
  }
  await Promise.all(calls);
}
