/**
 * The targeted test of a child: it runs the failures that it was shown, then a guard of seeds that its parent solves, and
 * stops as soon as what it loses reaches what it gains. No full evaluation is spent on it. Where rewards are noisy the gain
 * must stand out of the noise (a sequential z-test), and both run again until it does or the patience for it is over. One
 * that costs clearly less than its parent must only not lose, also on what the parent solves.
 *
 * Invariants: a child of one parent is accepted only with a gain that was measured, or without a loss as cheaper; without
 * noise, one that costs no less and loses as much as it gains is rejected; a merge, whose parts have shown their gains, must
 * only not lose; what is asked follows from the results alone.
 */
import { mean, sum } from '../../math/rewards.js';
import type { Pair } from '../../search/batch.js';
import type { Posterior, RewardModel } from '../../search/reward-model.js';
import { isCheaper } from '../../search/costs.js';
import { maxRegressionSeeds } from './config.js';
import { minibatchOf } from '../../search/config.js';
import { measuredOn } from '../../search/results.js';
import type { GepaState, Trial } from './state.js';

/** Standard errors that a gain must stand out by where rewards are noisy, and batches after which there are no more. */
const requiredStandardErrors = 0.5;
const maxRounds = 3;

/** Whether a child is accepted, and if it is for its cost alone; sums over what it ran, of what was expected there and of what it got. */
export interface AcceptanceResult {
  accepted: boolean;
  cheaper?: true;
  expectedSum: number;
  childSum: number;
}

/** What comes next for a child: more rollouts, or its verdict. */
export type AcceptanceStep = { ask: Pair[] } | AcceptanceResult;

/** What comes next for a child whose batches so far are answered. */
export function decideAcceptance(state: GepaState, model: RewardModel, trial: Trial): AcceptanceStep {
  const { candidate, parents, shown, rounds } = trial;
  const verdict = decideFromKnownResults(state, model, trial);
  const { expectedSum, childSum } = verdict;
  const gain = childSum - expectedSum;
  const slack = slackOf(expectedSum);
  const mayBeCheaper = gain >= -slack && isCheaperThanParent(state, trial);
  if (parents.length > 1 || (gain <= slack && !mayBeCheaper)) return verdict;
  if (rounds === 1) {
    const guards = regressionSeeds(state, model, trial);
    if (guards.length > 0) return { ask: guards.map((seed) => [candidate, seed]) };
  }
  if (verdict.accepted || gain <= slack || rounds >= maxRounds) return verdict;
  const [parent] = parents;
  return {
    ask: shown.flatMap((seed): Pair[] => [
      [parent!, seed],
      [candidate, seed],
    ]),
  };
}

/** The verdict on a child by what it ran so far: where the budget has no room for what `judge` would ask. */
export function decideFromKnownResults(state: GepaState, model: RewardModel, trial: Trial): AcceptanceResult {
  const compared = comparedSeeds(state, model, trial);
  const expectedSum = sum(compared.map(({ expected }) => expected.mean));
  const childSum = sum(compared.map(({ own }) => own));
  const gain = childSum - expectedSum;
  const error = Math.sqrt(sum(compared.map(({ variance }) => variance)));
  const slack = slackOf(expectedSum);
  const isMerge = trial.parents.length > 1;
  if (isMerge) return { accepted: gain >= -Math.max(slack, error), expectedSum, childSum };
  const isGain = gain > slack && (model.noise.variance === 0 || gain >= requiredStandardErrors * error);
  if (isGain) return { accepted: true, expectedSum, childSum };
  // What solves nothing is cheap: there must have been something to lose.
  const cheaper = gain >= -slack && expectedSum > slack && trial.rounds > 1 && isCheaperThanParent(state, trial);
  return { accepted: cheaper, ...(cheaper && { cheaper }), expectedSum, childSum };
}

function isCheaperThanParent({ costs }: GepaState, { candidate, parents }: Trial): boolean {
  return isCheaper(costs, candidate, parents[0]!);
}

function slackOf(expectedSum: number): number {
  return 1e-9 * Math.max(1, Math.abs(expectedSum));
}

interface Compared {
  seed: number;
  own: number;
  expected: Posterior;
  /** Of the difference. */
  variance: number;
}

/** Where the child was run and its parents, or their ancestors, too. */
function comparedSeeds(state: GepaState, model: RewardModel, { candidate }: Trial): Compared[] {
  const own = state.results[candidate] ?? {};
  return Object.keys(own)
    .map(Number)
    .flatMap((seed) => {
      const expected = model.prior(candidate, seed);
      if (expected === null) return [];
      const rewards = own[seed]!.map(([, reward]) => reward);
      const variance = model.noise.variance / rewards.length + expected.variance;
      return [{ seed, own: mean(rewards)!, expected, variance }];
    });
}

/**
 * Seeds that the parent solves and the child may have lost: where its text lacks what an ancestor had brought in, those for
 * which that was brought in; then those that were longest not looked at.
 */
function regressionSeeds(state: GepaState, model: RewardModel, { candidate, parents, removed }: Trial): number[] {
  const [parent] = parents;
  const solved = state.order
    .map((seed) => ({ seed, belief: model.posterior(parent!, seed) }))
    .filter(({ seed, belief }) => {
      return belief !== null && belief.mean > 1e-9 && measuredOn(state.results, candidate, seed).length === 0;
    })
    .sort((left, right) => right.belief!.mean - left.belief!.mean || right.belief!.age - left.belief!.age)
    .map(({ seed }) => seed);
  const taught = removed.flatMap((ancestor) =>
    solved.filter((seed) => gainedOn(state, model, ancestor, seed)).slice(0, 2),
  );
  const count = Math.min(maxRegressionSeeds(state.config), removed.length > 0 ? minibatchOf(state.config) : 1);
  return [...new Set([...taught, ...solved])].slice(
    0,
    Math.max(count, Math.min(taught.length, maxRegressionSeeds(state.config))),
  );
}

/** Whether a candidate was seen to be better on a seed than what it came from. */
export function gainedOn(state: GepaState, model: RewardModel, candidate: number, seed: number): boolean {
  const own = measuredOn(state.results, candidate, seed);
  if (own.length === 0) return false;
  const expected = model.prior(candidate, seed);
  return expected !== null && mean(own.map(([, reward]) => reward))! > expected.mean + 1e-9;
}
