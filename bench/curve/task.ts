import type { SearchTask } from '../gepa/search.js';
import { range } from './arguments.js';
import type { WorldKind } from '../worlds/world.js';

/** Rollouts at which the searches are compared. */
export const budgets = [200, 400, 800, 1600] as const;

/** Instances for training, of the kinds with more than the usual. */
const trainCounts: Partial<Record<WorldKind, number>> = { 'single-24': 96, 'single-48': 200, flips: 96 };

/** The task of every optimizer: 60 instances for training or as listed, 50 for evaluation. */
export function searchTask(world: number, maxRollouts: number, kind: WorldKind = 'rules'): SearchTask {
  const train = trainCounts[kind] ?? 60;
  return {
    trainSeeds: range(0, train),
    evaluationSeeds: range(train, train + 50),
    minibatchSize: 3,
    maxRollouts,
    maxConcurrent: 8,
    rngSeed: world,
  };
}
