/** Throughput and cost of a rollout by the number of jobs at once, and of worker processes. */
import { evaluate, optimize, range } from '../jobs.js';
import type { Row } from '../table.js';
import { difference, type ContainerCount, type World } from '../world.js';
import { startWorkers } from './workers.js';

const containerMs = 20;
const atOnce = 4;
const rules = 40;
/** Jobs at once, and the rollouts of all of them: about as long for each. */
const crowds = [
  { jobs: 1, rollouts: 300 },
  { jobs: 10, rollouts: 3_000 },
  { jobs: 100, rollouts: 8_000 },
  { jobs: 500, rollouts: 10_000 },
] as const;
const workerCounts = [1, 2, 4] as const;

interface Crowd {
  perSecond: number;
  calls: number;
  spent: ReturnType<typeof difference>;
}

/** Each beside one job of the same run. */
export async function byJobs(world: World): Promise<Row[]> {
  await run(world, 'warm', 2, 400);
  const rows: Row[] = [];
  let alone: number | null = null;
  for (const { jobs, rollouts } of crowds) {
    const crowd = await run(world, `jobs-${jobs}`, jobs, rollouts);
    rows.push(rowOf(`${jobs} ${jobs === 1 ? 'job' : 'jobs'} at once`, crowd, 'one job', alone));
    alone ??= crowd.perSecond;
  }
  return rows;
}

/** Each beside the one worker of the same run; more of them are processes of their own. */
export async function byWorkers(world: World): Promise<Row[]> {
  const rows: Row[] = [];
  let alone: number | null = null;
  for (const workers of workerCounts) {
    const others = await startWorkers(world, workers - 1);
    try {
      const before = others.spent();
      const crowd = await run(world, `workers-${workers}`, 100, 8_000);
      crowd.spent.service += others.spent() - before;
      const noun = workers === 1 ? 'worker process' : 'worker processes';
      rows.push(rowOf(`100 jobs at once, ${workers} ${noun}`, crowd, 'one worker', alone));
      alone ??= crowd.perSecond;
    } finally {
      await others.stop();
    }
  }
  return rows;
}

function rowOf(what: string, { perSecond, calls, spent }: Crowd, beside: string, alone: number | null): Row {
  return {
    what: `${what}: rollouts, ${containerMs} ms each`,
    value: perSecond,
    unit: '/s',
    ...(alone !== null && { beside: { what: beside, value: alone } }),
    used: { unit: 'rollout', n: calls, spent },
  };
}

/** Runs jobs at once, evaluations and sessions half and half, with so many rollouts in all. */
async function run(world: World, name: string, jobs: number, rollouts: number): Promise<Crowd> {
  const { url } = world.container;
  const each = Math.ceil(rollouts / jobs);
  const before = await world.spent();
  const ended = await Promise.all(
    range(jobs).map((n) =>
      n % 2 === 0
        ? evaluate(world, { containerUrl: `${url}/${name}/delay/${containerMs}`, seeds: each, maxConcurrent: atOnce })
        : optimize(world, {
            container_url: `${url}/${name}/rules/${rules}/${containerMs}`,
            gepa: {
              population_size: 2,
              generations: 100,
              minibatch_size: 3,
              train_seeds: range(rules),
              evaluation: { seeds: range(5) },
            },
            budget: { max_rollouts: each },
            max_concurrent: atOnce,
          }),
    ),
  );
  const wallMs = Math.max(...ended.map(({ endedAt }) => endedAt)) - Math.min(...ended.map(({ sentAt }) => sentAt));
  const { calls } = await world.container.ask<ContainerCount>('count', name);
  return { perSecond: (calls * 1_000) / wallMs, calls, spent: difference(before, await world.spent()) };
}
