import { setTimeout as delay } from 'node:timers/promises';
import { now } from '../clock.js';
import { addedRows, system } from '../inference-load.js';
import { range } from '../jobs.js';
import type { Row } from '../table.js';
import type { HeldRollout, World } from '../world.js';

const held = 50;
const patienceMs = 30_000;
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
    for (const path of jobs) await world.call('POST', `${path}/cancel`);
  };
  return { rollouts, release };
}

async function holdSession(world: World): Promise<string> {
  const created = await world.call<{ session_id: string }>('POST', '/api/v1/online/sessions', {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: `${world.container.url}/proxy/hold/0`,
      policy,
      initial_prompt: { messages: [system] },
      gepa: { population_size: 1, generations: 1, evaluation: { seeds: range(held) } },
      max_concurrent: held,
    },
  });
  return `/api/v1/online/sessions/${created.session_id}`;
}

async function holdEvaluation(world: World): Promise<string> {
  const created = await world.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
    container_url: `${world.container.url}/proxy/hold/0`,
    app_id: 'bench',
    env_name: 'bench',
    seeds: range(held),
    policy,
    candidate: { messages: [system] },
    max_concurrent: held,
  });
  return `/api/v1/offline/jobs/${created.job_id}`;
}

async function rolloutsHeld(world: World, wanted: number): Promise<HeldRollout[]> {
  const deadline = now() + patienceMs;
  for (;;) {
    const found = await world.container.ask<HeldRollout[]>('held', 'proxy');
    if (found.length === wanted) return found;
    if (now() > deadline) throw new Error(`the container holds ${found.length} rollouts, not ${wanted}`);
    await delay(100);
  }
}
