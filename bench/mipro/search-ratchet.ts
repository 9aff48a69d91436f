import type { Ratchet } from '../../src/client/index.js';
import { completed } from '../service.js';
import { populationSize, type CurveStep } from '../curve/trajectory.js';
import type { TaskRun, TaskSetup, Worlds } from '../worlds/client.js';
import type { ChatMessage } from '../worlds/task-texts.js';
import { openTaskWorld } from '../worlds/tasks.js';
import { searchTask } from './task.js';

/** `gepa` runs the other algorithm on the same worlds, without demonstrations. */
export type Algorithm = 'mipro' | 'gepa';

export function ratchetName(algorithm: Algorithm): string {
  return algorithm === 'mipro' ? 'ratchet' : 'ratchet (gepa)';
}

/**
 * Runs sessions of the service in a world without latency, one per budget, since behaviour depends
 * on it. Throws if a session exceeds its budget of task model calls.
 */
export async function searchRatchet(
  client: Ratchet,
  worlds: Worlds,
  setup: Pick<TaskSetup, 'kind' | 'world' | 'feedback' | 'labels'>,
  algorithm: Algorithm,
  budgets: readonly number[],
): Promise<{ calls: number; steps: CurveStep[] }> {
  const truth = openTaskWorld(setup.kind, setup.world);
  const steps = [{ rollouts: 0, trueReward: truth.trueReward([{ role: 'system', content: truth.baseline }]) }];
  let calls = 0;
  for (const budget of [...new Set(budgets)].sort((a, b) => a - b)) {
    const run = await worlds.openTask({ ...setup, rolloutMs: 0, proposerMs: 0 });
    const session = await runSession(client, run, algorithm, budget);
    const taken = (await run.ledger()).filter((entry) => entry.kind === 'call').length;
    if (taken > budget) throw new Error(`a session with a budget of ${budget} took ${taken} calls of the task model`);
    calls += taken;
    steps.push({ rollouts: budget, trueReward: truth.trueReward(await served(client, run, session)) });
  }
  return { calls, steps };
}

/** Runs a session over HTTP to its end; returns its id. */
async function runSession(client: Ratchet, run: TaskRun, algorithm: Algorithm, maxRollouts: number): Promise<string> {
  const session = await client.createSession({
    policy_optimization: {
      container_url: run.containerUrl,
      policy: { provider: 'bench', model: run.taskModel },
      proposer: { provider: 'bench', model: run.model },
      ...settings(run.setup, algorithm),
      budget: { max_rollouts: maxRollouts },
      max_concurrent: 8,
      rng_seed: searchTask(run.setup.world, run.setup.labels).rngSeed,
    },
  });
  await completed(session);
  return session.id;
}

function settings({ world, labels }: TaskSetup, algorithm: Algorithm) {
  const { trainSeeds, evaluationSeeds, maxBootstrappedDemos, maxLabeledDemos } = searchTask(world, labels);
  const seeds = { train_seeds: trainSeeds, evaluation: { seeds: evaluationSeeds } };
  if (algorithm === 'gepa')
    return {
      algorithm,
      gepa: { ...seeds, population_size: populationSize, generations: Math.floor(499 / populationSize) },
    };
  // The maximum, so that the budget ends the search.
  const mipro = {
    num_candidates: 50,
    max_bootstrapped_demos: maxBootstrappedDemos,
    max_labeled_demos: maxLabeledDemos,
  };
  return { algorithm, mipro: { ...seeds, ...mipro } };
}

/** The messages that the ended session's inference puts before an input. */
async function served(client: Ratchet, run: TaskRun, session: string): Promise<ChatMessage[]> {
  const { baseline, input } = openTaskWorld(run.setup.kind, run.setup.world);
  const path = { session_id: session, correlation_id: 'served' };
  const messages = [
    { role: 'system', content: baseline },
    { role: 'user', content: input(0) },
  ];
  await client.request('callCandidateForRollout', { path, body: { messages } });
  return (await run.lastMessages()).slice(0, -1);
}
