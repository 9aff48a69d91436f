import { setTimeout as delay } from 'node:timers/promises';
import { now } from '../clock.js';
import { evaluate } from '../jobs.js';
import { percentile } from '../stats.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';

const seeds = 1_000;
const atOnce = 8;
const containerMs = 50;
const pauses = 20;
const patienceMs = 60_000;
const aims = { p50: 20, p99: 100 } as const;

/** Latency of events to listeners. */
export async function run(world: World): Promise<Row[]> {
  await evaluate(world, { containerUrl: `${world.container.url}/warm/delay/0`, seeds, maxConcurrent: atOnce });
  return [...(await rollouts(world, 1)), ...(await rollouts(world, 20)), ...(await commands(world))];
}

/** From the container's answer to the event's arrival at each client. */
async function rollouts(world: World, clients: number): Promise<Row[]> {
  const name = `sse-${clients}`;
  const arrivals: { rolloutId: string; at: number }[] = [];
  const onEvent = (event: { at: number; data: Record<string, unknown> }) => {
    if (typeof event.data['rollout_id'] === 'string')
      arrivals.push({ rolloutId: event.data['rollout_id'], at: event.at });
  };
  const more: Promise<unknown>[] = [];
  await evaluate(world, {
    containerUrl: `${world.container.url}/${name}/delay/${containerMs}`,
    seeds,
    maxConcurrent: atOnce,
    onEvent,
    onCreated(jobId) {
      const path = `/api/v1/offline/jobs/${jobId}/events/stream`;
      for (let n = 1; n < clients; n += 1) more.push(world.follow(path, AbortSignal.timeout(patienceMs), onEvent));
    },
  });
  await Promise.all(more);
  const stamps = await world.container.ask<Map<string, number>>('stamps', name);
  const lags = arrivals.map(({ rolloutId, at }) => at - stamps.get(rolloutId)!);
  if (lags.length !== clients * seeds) throw new Error(`${lags.length} events arrived, not ${clients * seeds}`);
  const listeners = clients === 1 ? '1 SSE client' : `${clients} SSE clients`;
  const raw = {
    clients,
    events: lags.length,
    p50: percentile(lags, 50),
    p99: percentile(lags, 99),
    most: Math.max(...lags),
  };
  return (['p50', 'p99'] as const).map((name) => ({
    what: `rollout's end to its event at ${listeners}: ${name}`,
    value: raw[name],
    unit: 'ms',
    aim: { of: 'value', most: aims[name] },
    raw,
  }));
}

/** From sending a pause to the arrival of `paused`, and to the response. */
async function commands(world: World): Promise<Row[]> {
  const toEvent: number[] = [];
  const toAnswer: number[] = [];
  let arrived: (at: number) => void = () => undefined;
  await evaluate(world, {
    containerUrl: `${world.container.url}/commands/delay/${containerMs}`,
    seeds,
    maxConcurrent: atOnce,
    onEvent: ({ type, at }) => {
      if (type === 'paused') arrived(at);
    },
    onCreated: (jobId) => void pauseAndResume(jobId).catch((error: Error) => (failure = error)),
  });
  let failure: Error | null = null;
  async function pauseAndResume(jobId: string): Promise<void> {
    for (let n = 0; n < pauses; n += 1) {
      await delay(50);
      const event = new Promise<number>((resolve) => (arrived = resolve));
      const sentAt = now();
      await world.call('POST', `/api/v1/offline/jobs/${jobId}/pause`);
      toAnswer.push(now() - sentAt);
      toEvent.push((await event) - sentAt);
      await world.call('POST', `/api/v1/offline/jobs/${jobId}/resume`);
    }
  }
  if (failure !== null) throw failure as Error;
  if (toEvent.length < pauses) throw new Error(`the evaluation ended after ${toEvent.length} of ${pauses} pauses`);
  const raw = { toEvent, toAnswer };
  return (['p50', 'p99'] as const).map((name) => ({
    what: `pause sent to its event at an SSE client: ${name}`,
    value: percentile(toEvent, name === 'p50' ? 50 : 99),
    unit: 'ms',
    beside: { what: 'to the answer of the call', value: percentile(toAnswer, name === 'p50' ? 50 : 99) },
    aim: { of: 'value', most: aims[name] },
    raw,
  }));
}
