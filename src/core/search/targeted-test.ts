/**
 * The targeted test of a candidate, instead of a full evaluation: on failures that it was made for,
 * then on seeds that its parent solves. Its rewards are compared with those expected.
 */
import { mean, sum } from '../math/rewards.js';
import type { Posterior, RewardModel } from './reward-model.js';
import { measuredOn, type Results } from './results.js';
import type { SeededState } from './state.js';

/** Standard errors that a gain must exceed with noise, and the most test rounds. */
const requiredStandardErrors = 0.5;
export const maxRounds = 3;

/** A seed with results of the candidate; `variance`: of `own - expected.mean`. */
export interface ComparedSeed {
  seed: number;
  own: number;
  expected: Posterior;
  variance: number;
}

/** The candidate's seeds, with the rewards expected from its parents' results. */
export function comparedSeeds(
  { results }: Pick<SeededState, 'results'>,
  model: RewardModel,
  candidate: number,
): ComparedSeed[] {
  return Object.entries(results[candidate] ?? {}).flatMap(([key, measured]) => {
    const seed = Number(key);
    const expected = model.prior(candidate, seed);
    if (expected === null) return [];
    const variance = model.noise.variance / measured.length + expected.variance;
    return [{ seed, own: mean(measured.map(([, reward]) => reward))!, expected, variance }];
  });
}

/** A candidate's rewards against those expected, over the same seeds. */
export interface TestSums {
  expectedSum: number;
  childSum: number;
  gain: number;
  /** The difference of sums that counts as none: rounding. */
  slack: number;
  /** The gain is more than rounding and noise. */
  isGain: boolean;
  /** A loss is not more than rounding and noise: a merge's parts have shown their gains. */
  isKept: boolean;
}

export function sumsOf(compared: readonly ComparedSeed[], model: RewardModel): TestSums {
  const expectedSum = sum(compared.map(({ expected }) => expected.mean));
  const childSum = sum(compared.map(({ own }) => own));
  const gain = childSum - expectedSum;
  const error = Math.sqrt(sum(compared.map(({ variance }) => variance)));
  const slack = 1e-9 * Math.max(1, Math.abs(expectedSum));
  const isGain = gain > slack && (model.noise.variance === 0 || gain >= requiredStandardErrors * error);
  return { expectedSum, childSum, gain, slack, isGain, isKept: gain >= -Math.max(slack, error) };
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

/** Whether a candidate scored more on a seed than its parents led to expect. */
export function gainedOn(results: Results, model: RewardModel, candidate: number, seed: number): boolean {
  const own = measuredOn(results, candidate, seed);
  if (own.length === 0) return false;
  const expected = model.prior(candidate, seed);
  return expected !== null && mean(own.map(([, reward]) => reward))! > expected.mean + 1e-9;
}
