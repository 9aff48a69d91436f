import { range } from '../curve/arguments.js';

/** The task of every optimizer: 60 of 240 instances for training, 50 others for evaluation. */
export interface MiproTask {
  trainSeeds: number[];
  evaluationSeeds: number[];
  maxBootstrappedDemos: number;
  maxLabeledDemos: number;
  rngSeed: number;
}

/** Task model calls at which searches are compared; a session needs two evaluations and a trial. */
export const budgets = [125, 200, 400, 800] as const;

/** Labeled demonstrations only with known answers; four of each kind is DSPy's default. */
export function searchTask(world: number, labels: boolean): MiproTask {
  return {
    trainSeeds: range(0, 60),
    evaluationSeeds: range(60, 110),
    maxBootstrappedDemos: 4,
    maxLabeledDemos: labels ? 4 : 0,
    rngSeed: world,
  };
}
