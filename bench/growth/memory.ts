/** The slope of resident memory while crowds run one after the other. */
import { setTimeout as delay } from 'node:timers/promises';
import { now } from '../clock.js';
import { evaluate, optimize, range, smallSearch } from '../jobs.js';
import { slope } from '../stats.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';
import type { GrowthOptions } from './options.js';

const jobsAtOnce = 20;
const rules = 40;
const sampleMs = 2_000;
/** The share of the run that fills caches and heaps, which the slope leaves out. */
const warmUp = 1 / 3;

/** Runs jobs at a constant number for so many minutes. */
export async function memorySlope(world: World, { minutes }: GrowthOptions): Promise<Row[]> {
  const from = now();
  const end = from + minutes * 60_000;
  const samples: { hours: number; mib: number }[] = [];
  let jobs = 0;
  const keepRunning = async (kind: number): Promise<void> => {
    while (now() < end) {
      jobs += 1;
      await (kind % 2 === 0 ? evaluation(world) : session(world));
    }
  };
  const watch = async (): Promise<void> => {
    for (; now() < end; await delay(sampleMs))
      samples.push({ hours: (now() - from) / 3_600_000, mib: world.memory().now });
  };
  await Promise.all([watch(), ...range(jobsAtOnce).map(keepRunning)]);
  const settled = samples.slice(Math.floor(samples.length * warmUp));
  const { perUnit, standardError } = slope(settled.map(({ hours, mib }): [number, number] => [hours, mib]));
  return [
    {
      what: `${jobsAtOnce} jobs at once for ${minutes} minutes (${jobs} jobs): growth of resident memory, standard error ${standardError.toFixed(0)}`,
      value: perUnit,
      unit: 'MiB/h',
      raw: samples,
    },
    {
      what: 'resident memory at the end',
      value: samples.at(-1)!.mib,
      unit: 'MiB',
      beside: { what: 'after a third of the run', value: settled[0]!.mib },
    },
  ];
}

const evaluation = (world: World) =>
  evaluate(world, { containerUrl: `${world.container.url}/memory/delay/20`, seeds: 150, maxConcurrent: 4 });

const session = (world: World) =>
  optimize(world, {
    container_url: `${world.container.url}/memory/rules/${rules}/20`,
    gepa: smallSearch(rules),
    budget: { max_rollouts: 100 },
    max_concurrent: 4,
  });
