import type { Ratchet } from '../../src/client/index.js';
import { graphSearch } from '../../src/core/graphs/search-config.js';
import type { CurveStep } from '../curve/trajectory.js';
import { completed } from '../service.js';
import { readGraphText } from '../worlds/graph-text.js';
import type { LookupSetup, Worlds } from '../worlds/client.js';
import { lookupTasks, openLookupWorld, promptGraph } from '../worlds/lookups.js';

export const ratchetName = 'ratchet';

/** Rollout budgets of a graph job; it may make more calls. */
export const budgets = [100, 200, 400] as const;

/** A job's split of the tasks, also used for the peer, held-out tasks included. */
export function taskSplit(world: number, rolloutBudget: number): { train: number[]; evaluation: number[] } {
  const search = graphSearch({ tasks: lookupTasks, rolloutBudget, effort: 'medium', rngSeed: world });
  const evaluation = search.evaluationSeeds;
  const train = Array.from({ length: lookupTasks }, (_, task) => task).filter((task) => !evaluation.includes(task));
  return { train, evaluation };
}

/** Runs a graph job; `rollouts` of a step are model calls of task model and proposer. */
export async function searchRatchet(
  client: Ratchet,
  worlds: Worlds,
  setup: LookupSetup,
  rolloutBudget: number,
): Promise<{ calls: number; steps: CurveStep[]; graph: string }> {
  const world = openLookupWorld(setup.kind, setup.world);
  const run = await worlds.openLookups(setup);
  const tasks = Array.from({ length: lookupTasks }, (_, task) => task);
  const job = await client.createGraph({
    dataset: {
      initial_prompt: world.baseline,
      tasks: tasks.map((task) => ({ id: `task-${task}`, input: { question: world.input(task) } })),
      gold_outputs: tasks.map((task) => ({ task_id: `task-${task}`, output: world.expected(task) })),
      verifier_config: { mode: 'exact' },
    },
    policy_model: run.taskModel,
    policy_provider: 'bench',
    proposer: { model: run.model, provider: 'bench' },
    rollout_budget: rolloutBudget,
    max_concurrent: 8,
    rng_seed: setup.world,
  });
  await completed(job);
  const calls = (await run.ledger()).length;
  const graph = await job.text();
  const steps = [
    { rollouts: 0, trueReward: await world.trueReward(promptGraph(world.baseline)) },
    { rollouts: calls, trueReward: await world.trueReward(readGraphText(graph)) },
  ];
  return { calls, steps, graph };
}
