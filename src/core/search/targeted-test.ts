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

/** Seeds that the parent solves and the candidate did not run: the best, then oldest results. */
export function solvedSeeds(
  { order, results }: Pick<SeededState, 'order' | 'results'>,
  model: RewardModel,
  parent: number,
  candidate: number,
): number[] {
  return order
    .flatMap((seed) => {
      const posterior = model.posterior(parent, seed);
      const isOpen = posterior !== null && posterior.mean > 1e-9 && measuredOn(results, candidate, seed).length === 0;
      return isOpen ? [{ seed, posterior }] : [];
    })
    .sort((left, right) => right.posterior.mean - left.posterior.mean || right.posterior.age - left.posterior.age)
    .map(({ seed }) => seed);
}
