/** The parts of a targeted test that algorithms share. */
import type { RewardModel } from './reward-model.js';
import { measuredOn } from './results.js';
import type { SeededState } from './state.js';

/** Standard errors that a gain must exceed with noise, and the most test rounds. */
export const requiredStandardErrors = 0.5;
export const maxRounds = 3;

/** The difference of sums that counts as none: rounding. */
export function slackOf(expectedSum: number): number {
  return 1e-9 * Math.max(1, Math.abs(expectedSum));
}

type Runs = Pick<SeededState, 'order' | 'results'>;

/** The parent's posteriors on the seeds that the candidate did not run. */
export function posteriorsLeft({ order, results }: Runs, model: RewardModel, parent: number, candidate: number) {
  return order.flatMap((seed) => {
    const posterior = model.posterior(parent, seed);
    return posterior === null || measuredOn(results, candidate, seed).length > 0 ? [] : [{ seed, ...posterior }];
  });
}

/** Seeds that the parent solves and the candidate did not run: the best, then oldest results. */
export function solvedSeeds(state: Runs, model: RewardModel, parent: number, candidate: number): number[] {
  return posteriorsLeft(state, model, parent, candidate)
    .filter(({ mean }) => mean > 1e-9)
    .sort((left, right) => right.mean - left.mean || right.age - left.age)
    .map(({ seed }) => seed);
}
