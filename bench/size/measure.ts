import { setTimeout as delay } from 'node:timers/promises';
import { chainOf, History, largestPayload } from '../../test/support/chain.js';
import type { Bench } from './service.js';

/** What was asked for again and again took this long, in milliseconds, and was this large. */
export interface Times {
  p50: number;
  p99: number;
  bytes: number;
}

/** Asks `times` times, one after another. */
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

/** The histories of a job's runs: how many, and the most that one has of events, bytes and one payload. */
export async function historyOf(bench: Bench, workflowId: string) {
  const runs = await chainOf(bench.temporal, workflowId);
  return {
    runs: runs.length,
    events: Math.max(...runs.map((run) => run.events.length)),
    bytes: Math.max(...runs.map((run) => History.encode(run).finish().byteLength)),
    payload: Math.max(...runs.map(largestPayload)),
  };
}

/** Looks at a job every half second until `done` says so; throws after `seconds`. */
export async function watch<Job extends { status: string; error: string | null }>(
  bench: Bench,
  path: string,
  seconds: number,
  done: (job: Job) => boolean,
): Promise<Job> {
  const end = Date.now() + seconds * 1_000;
  for (;;) {
    const job = await bench.api.call<Job>('GET', path);
    if (done(job)) return job;
    if (job.status === 'failed' || job.status === 'cancelled') throw new Error(`${path} ${job.status}: ${job.error}`);
    if (Date.now() > end) throw new Error(`${path} did not come there within ${seconds} s`);
    await delay(500);
  }
}
