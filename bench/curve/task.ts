import type { SearchTask } from '../gepa/search.js';

/** Rollouts after which the searches are compared. */
export const budgets = [200, 400, 800, 1600] as const;

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** What every optimizer is asked: of 240 instances it sees 60 to learn from and 50 others to choose by. */
export function taskOf(world: number, maxRollouts: number): SearchTask {
  return {
    trainSeeds: range(0, 60),
    evaluationSeeds: range(60, 110),
    minibatchSize: 3,
    maxRollouts,
    maxConcurrent: 8,
    rngSeed: world,
  };
}
