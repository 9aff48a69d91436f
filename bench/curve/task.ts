import type { SearchTask } from '../gepa/search.js';

/** Rollouts at which the searches are compared. */
export const budgets = [200, 400, 800, 1600] as const;

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** The task of every optimizer: 60 of 240 instances for training, 50 others for evaluation. */
export function searchTask(world: number, maxRollouts: number): SearchTask {
  return {
    trainSeeds: range(0, 60),
    evaluationSeeds: range(60, 110),
    minibatchSize: 3,
    maxRollouts,
    maxConcurrent: 8,
    rngSeed: world,
  };
}
