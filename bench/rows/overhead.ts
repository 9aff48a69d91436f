import { optimize, range } from '../jobs.js';
import type { Row } from '../table.js';
import { difference, type World } from '../world.js';

const maxRollouts = 800;
const evaluationSeeds = 20;
/** Too many rules to learn within the budget, so that the session uses all rollouts. */
const rules = 40;

/** A GEPA session with an instant container: the service's own time. */
export async function run(world: World): Promise<Row[]> {
  await session(world, 'warm', 200);
  const before = await world.spent();
  const job = await session(world, 'overhead', maxRollouts);
  const spent = difference(before, await world.spent());
  const { progress } = await world.call<{ progress: { rollouts_completed: number; generation: number } }>(
    'GET',
    `/api/v1/online/sessions/${job.jobId}`,
  );
  const history = await world.temporal.workflow.getHandle(job.workflowId).describe();
  const rollouts = progress.rollouts_completed;
  const wallMs = job.endedAt - job.sentAt;
  return [
    {
      what: `GEPA session, ${rollouts} rollouts of 0 ms, 8 at once: wall per rollout`,
      value: wallMs / rollouts,
      unit: 'ms',
      aim: { of: 'value', most: 10 },
      used: { unit: 'rollout', n: rollouts, spent },
      raw: { wallMs, rollouts, generations: progress.generation, historyEvents: history.historyLength },
    },
  ];
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
