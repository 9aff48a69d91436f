/** What every optimizer is asked: of 240 instances it sees 60 to learn from and 50 others to choose by. */
export interface MiproTask {
  trainSeeds: number[];
  evaluationSeeds: number[];
  maxBootstrappedDemos: number;
  maxLabeledDemos: number;
  rngSeed: number;
}

/** Calls of the task model after which the searches are compared; a session needs two evaluations and a trial. */
export const budgets = [125, 200, 400, 800] as const;

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** Labelled demonstrations only where the right answers are told; four of either are DSPy's default. */
export function taskOf(world: number, labels: boolean): MiproTask {
  return {
    trainSeeds: range(0, 60),
    evaluationSeeds: range(60, 110),
    maxBootstrappedDemos: 4,
    maxLabeledDemos: labels ? 4 : 0,
    rngSeed: world,
  };
}
