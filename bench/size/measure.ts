import { setTimeout as delay } from 'node:timers/promises';
import { chainOf, History, largestPayload } from '../../test/support/chain.js';
import type { Bench } from './service.js';

/** Latencies in milliseconds and size of a repeated request. */
export interface Times {
  p50: number;
  p99: number;
  bytes: number;
}

/** Sends a request `times` times, sequentially. */
export async function timed(times: number, ask: () => Promise<unknown>): Promise<Times> {
  const took: number[] = [];
  let bytes = 0;
  for (let n = 0; n < times; n += 1) {
    const from = performance.now();
    const answer = await ask();
    took.push(performance.now() - from);
    bytes = Math.max(bytes, Buffer.byteLength(JSON.stringify(answer)));
    await delay(5);
  }
  took.sort((a, b) => a - b);
  const at = (p: number) => took[Math.min(took.length - 1, Math.floor(took.length * p))]!;
  return { p50: at(0.5), p99: at(0.99), bytes };
}

/** Histories of a job's runs: count, and the largest number of events, bytes and payload. */
export async function readHistories(bench: Bench, workflowId: string) {
  const runs = await chainOf(bench.temporal, workflowId);
  return {
    runs: runs.length,
    events: Math.max(...runs.map((run) => run.events.length)),
    bytes: Math.max(...runs.map((run) => History.encode(run).finish().byteLength)),
    payload: Math.max(...runs.map(largestPayload)),
  };
}

/** Polls a job every half second until `done`; throws after `seconds`. */
export async function watch<Job extends { status: string; error: string | null }>(
  handle: { id: string; get(): Promise<Job> },
  seconds: number,
  done: (job: Job) => boolean,
): Promise<Job> {
  const end = Date.now() + seconds * 1_000;
  for (;;) {
    const job = await handle.get();
    if (done(job)) return job;
    if (job.status === 'failed' || job.status === 'cancelled')
      throw new Error(`${handle.id} ${job.status}: ${job.error}`);
    if (Date.now() > end) throw new Error(`${handle.id} did not reach the state within ${seconds} s`);
    await delay(500);
  }
}
