import { taskTimes, type TaskTimes } from '../history.js';
import { evaluate, optimize, range, type JobRun } from '../jobs.js';
import { percentile } from '../stats.js';
import type { Row } from '../table.js';
import { difference, type World } from '../world.js';

const maxRollouts = 800;
const evaluationSeeds = 20;
const evaluationsOfOne = 50;
/** Too many rules to learn within the budget, so that the session uses all rollouts. */
const rules = 40;

/** A GEPA session with an instant container: the service's own time. */
export async function run(world: World): Promise<Row[]> {
  await session(world, 'warm', 200);
  const before = await world.spent();
  const job = await session(world, 'overhead', maxRollouts);
  const spent = difference(before, await world.spent());
  const { progress } = await world.client.sessions.handle(job.jobId).get();
  const tasks = await timesOf(world, job);
  const rolloutActivities = await evaluationsOfOneSeed(world);
  const rollouts = progress.rollouts_completed;
  const wallMs = job.endedAt - job.sentAt;
  const cpuMs = (spent.service + spent.postgres + spent.temporal) * 1_000;
  const what = `GEPA session, ${rollouts} rollouts of 0 ms, 8 at once`;
  return [
    {
      what: `${what}: wall per rollout`,
      value: wallMs / rollouts,
      unit: 'ms',
      aim: { of: 'value', most: 5 },
      used: { unit: 'rollout', n: rollouts, spent },
      raw: { wallMs, rollouts, generations: progress.generation, ...tasks },
    },
    {
      what: `${what}: CPU per rollout of API, worker, Postgres and Temporal`,
      value: cpuMs / rollouts,
      unit: 'ms',
      aim: { of: 'value', most: 6 },
    },
    ...distribution(`${what}: workflow task, start to completion`, tasks.workflowTasks, 4),
    ...distribution('evaluation of one seed of 0 ms: activity of its rollout', rolloutActivities, 8),
  ];
}

function distribution(what: string, times: readonly number[], most: number): Row[] {
  const of = `${what} (${times.length})`;
  return [
    { what: `${of}, p50`, value: percentile(times, 50), unit: 'ms', aim: { of: 'value', most } },
    { what: `${of}, p99`, value: percentile(times, 99), unit: 'ms' },
  ];
}

async function evaluationsOfOneSeed(world: World): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < evaluationsOfOne; n += 1) {
    const job = await evaluate(world, {
      containerUrl: `${world.container.url}/one/delay/0`,
      seeds: 1,
      maxConcurrent: 1,
    });
    times.push(...(await timesOf(world, job)).activities['drive']!);
  }
  return times;
}

async function timesOf(world: World, { workflowId }: JobRun): Promise<TaskTimes> {
  const { events } = await world.temporal.workflow.getHandle(workflowId).fetchHistory();
  return taskTimes(events ?? []);
}

function session(world: World, name: string, budget: number) {
  return optimize(world, {
    container_url: `${world.container.url}/${name}/rules/${rules}`,
    gepa: {
      population_size: 4,
      generations: 50,
      minibatch_size: 3,
      train_seeds: range(rules),
      evaluation: { seeds: range(evaluationSeeds) },
    },
    budget: { max_rollouts: budget },
    max_concurrent: 8,
  });
}
