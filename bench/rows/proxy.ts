import { until } from '../../test/support/until.js';
import { addedRows, system } from '../inference-load.js';
import { range } from '../jobs.js';
import type { Row } from '../table.js';
import type { HeldRollout, World } from '../world.js';

const held = 50;
const policy = { provider: 'fake', model: 'fake-1' };

/**
 * Overhead of the proxy per model call over direct calls in turn. The calls belong to running
 * rollouts of a session's baseline and an evaluation, so that each has its system message replaced.
 */
export async function run(world: World): Promise<Row[]> {
  const { rollouts, release } = await holdRollouts(world);
  const rows = await addedRows(world, 'proxy', rollouts);
  await release();
  return rows;
}

/** Running rollouts of a session and an evaluation, until their release. */
export async function holdRollouts(world: World) {
  const jobs = [await holdSession(world), await holdEvaluation(world)];
  const rollouts = await rolloutsHeld(world, jobs.length * held);
  const release = async () => {
    for (const job of jobs) await job.cancel();
  };
  return { rollouts, release };
}

function holdSession(world: World) {
  return world.client.createSession({
    policy_optimization: {
      algorithm: 'gepa',
      container_url: `${world.container.url}/proxy/hold/0`,
      policy,
      initial_prompt: { messages: [system] },
      gepa: { population_size: 1, generations: 1, evaluation: { seeds: range(held) } },
      max_concurrent: held,
    },
  });
}

function holdEvaluation(world: World) {
  return world.client.createEvaluation({
    container_url: `${world.container.url}/proxy/hold/0`,
    app_id: 'bench',
    env_name: 'bench',
    seeds: range(held),
    policy,
    candidate: { messages: [system] },
    max_concurrent: held,
  });
}

function rolloutsHeld(world: World, wanted: number): Promise<HeldRollout[]> {
  return until(`the container holds ${wanted} rollouts`, async () => {
    const found = await world.container.ask<HeldRollout[]>('held', 'proxy');
    return found.length === wanted && found;
  });
}
