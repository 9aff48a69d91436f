import { setTimeout as delay } from 'node:timers/promises';
import { now } from '../clock.js';
import { evaluate, optimize, range, smallSearch, type JobRun } from '../jobs.js';
import { openLoop } from '../open-loop.js';
import { plainClient } from '../plain.js';
import { percentile } from '../stats.js';
import type { Row } from '../table.js';
import { difference, type ContainerCount, type World } from '../world.js';

const sessions = 50;
const evaluations = 50;
const containerMs = 20;
const atOnce = 4;
const evaluationSeeds = 150;
const sessionRollouts = 100;
const rules = 40;
const controlsPerSecond = 20;
const controlSeconds = 8;
/** Aims for the 99th percentile of control calls, in milliseconds. */
const latest = { status: 100, pause: 300, resume: 300 };
const small = { seeds: 50, maxConcurrent: 5 };
const huge = { seeds: 10_000, maxConcurrent: 64 };

/** Very many jobs at once: latency of control, and fairness. */
export async function run(world: World): Promise<Row[]> {
  await evaluate(world, { containerUrl: `${world.container.url}/warm/delay/0`, seeds: 1_000, maxConcurrent: 8 });
  return [...(await crowd(world)), await fairness(world)];
}

async function crowd(world: World): Promise<Row[]> {
  const { url } = world.container;
  const beforeMiB = world.memory().now;
  world.resetMemoryPeak();
  const before = await world.spent();
  const open: string[] = [];
  const sentAt = now();
  const jobs: Promise<JobRun>[] = [
    ...range(evaluations).map(() =>
      evaluate(world, {
        containerUrl: `${url}/crowd/delay/${containerMs}`,
        seeds: evaluationSeeds,
        maxConcurrent: atOnce,
        onCreated: (jobId) => open.push(`/api/v1/offline/jobs/${jobId}`),
      }),
    ),
    ...range(sessions).map(() =>
      optimize(
        world,
        {
          container_url: `${url}/crowd/rules/${rules}/${containerMs}`,
          gepa: smallSearch(rules),
          budget: { max_rollouts: sessionRollouts },
          max_concurrent: atOnce,
        },
        (jobId) => open.push(`/api/v1/online/sessions/${jobId}`),
      ),
    ),
  ];
  const all = Promise.all(jobs);
  // Checked below, after the controls.
  all.catch(() => undefined);
  const controls = await control(world, open);
  const ended = await all;
  const wallS = (Math.max(...ended.map(({ endedAt }) => endedAt)) - sentAt) / 1_000;
  const spent = difference(before, await world.spent());
  const { peak } = world.memory();
  const { calls } = await world.container.ask<ContainerCount>('count', 'crowd');
  const plainMs = await plainClient(`${url}/plain/delay/${containerMs}`, calls, (sessions + evaluations) * atOnce);
  const what = `${sessions} sessions and ${evaluations} evaluations at once`;
  const raw = { calls, wallS, beforeMiB, peak, controls };
  return [
    {
      what: `${what}: rollouts, ${containerMs} ms each`,
      value: calls / wallS,
      unit: '/s',
      beside: { what: 'plain client, as many at once', value: (calls * 1_000) / plainMs },
      aim: { of: 'value', least: 800 },
      used: { unit: 'rollout', n: calls, spent },
      raw,
    },
    {
      what: `${what}: peak memory of API and worker`,
      value: peak,
      unit: 'MiB',
      beside: { what: 'before', value: beforeMiB },
      aim: { of: 'value', most: 500 },
    },
    {
      what: `${what}: commands that Temporal did not take in 2 s (503)`,
      value: controls.refused,
      unit: 'answers',
      aim: { of: 'value', most: 0 },
    },
    ...Object.entries(controls.times).flatMap(([name, times]) =>
      ([50, 99] as const).map((p) => ({
        what: `${what}: ${name} (${times.length} calls), p${p}`,
        value: percentile(times, p),
        unit: 'ms',
        ...(p === 99 && { aim: { of: 'value' as const, most: latest[name as keyof typeof latest] } }),
      })),
    ),
  ];
}

/** Milliseconds since each call was due; commands answered 503 include all retries. */
interface Controls {
  times: Record<'status' | 'pause' | 'resume', number[]>;
  /** Number of 503 responses: Temporal did not accept the command within 2 s. */
  refused: number;
}

/** Status, pause and resume of jobs in turn, at a constant rate. */
async function control(world: World, open: readonly string[]): Promise<Controls> {
  const controls: Controls = { times: { status: [], pause: [], resume: [] }, refused: 0 };
  const deadline = now() + 60_000;
  while (open.length < (sessions + evaluations) / 2) {
    if (now() > deadline) throw new Error(`only ${open.length} jobs were created in 60 s`);
    await delay(10);
  }
  const command = async (kind: 'pause' | 'resume', path: string, from: number) => {
    for (;;) {
      try {
        await world.call('POST', `${path}/${kind}`);
        break;
      } catch (error) {
        const { message } = error as Error;
        // A job that has ended refuses commands: also an answer.
        if (/: 409 /.test(message)) return;
        if (!/: 503 /.test(message)) throw error;
        controls.refused += 1;
      }
    }
    controls.times[kind].push(now() - from);
  };
  await openLoop(controlsPerSecond, controlSeconds, async (dueAt, index) => {
    const path = open[(index * 37) % open.length]!;
    if (index % 2 === 0) {
      await world.call('GET', path);
      controls.times.status.push(now() - dueAt);
      return;
    }
    await command('pause', path, dueAt);
    await command('resume', path, now());
  });
  return controls;
}

/** A small job alone, then next to a job 200 times as large. */
async function fairness(world: World): Promise<Row> {
  const { url } = world.container;
  const alone: number[] = [];
  const beside: number[] = [];
  const measure = async (into: number[]) => {
    const { sentAt, endedAt } = await evaluate(world, { containerUrl: `${url}/small/delay/${containerMs}`, ...small });
    into.push((endedAt - sentAt) / 1_000);
  };
  for (let n = 0; n < 5; n += 1) await measure(alone);
  let hugeRuns = true;
  const big = evaluate(world, { containerUrl: `${url}/huge/delay/${containerMs}`, ...huge }).finally(
    () => (hugeRuns = false),
  );
  big.catch(() => undefined);
  await delay(1_000);
  while (hugeRuns && beside.length < 5) await measure(beside);
  // The last one may have outlived the huge job.
  if (!hugeRuns) beside.pop();
  const { endedAt, sentAt } = await big;
  return {
    what: `evaluation of ${small.seeds} seeds beside one of ${huge.seeds.toLocaleString('en-US')}: wall`,
    value: percentile(beside, 50),
    unit: 's',
    beside: { what: 'alone', value: percentile(alone, 50) },
    aim: { of: 'ratio', most: 1.5 },
    raw: { alone, beside, hugeSeconds: (endedAt - sentAt) / 1_000 },
  };
}
