/**
 * The targeted test of a child: it runs the failures that it was shown, then a guard of seeds that its parent solves, and
 * stops as soon as what it loses reaches what it gains. No full evaluation is spent on it. Where rewards are noisy the gain
 * must stand out of the noise (a sequential z-test), and both run again until it does or the patience for it is over.
 *
 * Invariants: a child is accepted only with a gain that was measured; without noise, one that loses as much as it gains is
 * rejected; what is asked of it follows from the results alone.
 */
import { mean, sum } from '../scores.js';
import type { Pair } from './batch.js';
import type { Belief, Beliefs } from './belief.js';
import { guardsOf, minibatchOf } from './config.js';
import { measuredOn } from './results.js';
import type { GepaState, Trial } from './state.js';

/** Standard errors that a gain must stand out by where rewards are noisy, and batches after which there are no more. */
const convincing = 0.5;
const mostWaves = 3;

/** What comes next for a child: more rollouts, or its verdict; sums over what it ran, of what was expected there and of what it got. */
export type GateStep = { ask: Pair[] } | { accepted: boolean; expectedSum: number; childSum: number };

/** What comes next for a child whose batches so far are answered. */
export function judge(state: GepaState, beliefs: Beliefs, trial: Trial): GateStep {
  const { candidate } = trial;
  const compared = comparedSeeds(state, beliefs, trial);
  const expectedSum = sum(compared.map(({ expected }) => expected.mean));
  const childSum = sum(compared.map(({ own }) => own));
  const verdict = (accepted: boolean): GateStep => ({ accepted, expectedSum, childSum });
  const gain = childSum - expectedSum;
  const error = Math.sqrt(sum(compared.map(({ variance }) => variance)));
  const slack = 1e-9 * Math.max(1, Math.abs(expectedSum));

  if (trial.parents.length > 1) return verdict(gain >= -Math.max(slack, error));
  if (gain <= slack) return verdict(false);
  if (trial.waves === 1) {
    const guards = guardSeeds(state, beliefs, trial);
    if (guards.length > 0) return { ask: guards.map((seed) => [candidate, seed]) };
  }
  if (beliefs.noise.variance === 0) return verdict(true);
  if (gain >= convincing * error) return verdict(true);
  if (trial.waves >= mostWaves) return verdict(false);
  const [parent] = trial.parents;
  return {
    ask: trial.shown.flatMap((seed): Pair[] => [
      [parent!, seed],
      [candidate, seed],
    ]),
  };
}

interface Compared {
  seed: number;
  own: number;
  expected: Belief;
  /** Of the difference. */
  variance: number;
}

/** Where the child was run and its parents, or their ancestors, too. */
function comparedSeeds(state: GepaState, beliefs: Beliefs, { candidate }: Trial): Compared[] {
  const own = state.results[candidate] ?? {};
  return Object.keys(own)
    .map(Number)
    .flatMap((seed) => {
      const expected = beliefs.expected(candidate, seed);
      if (expected === null) return [];
      const rewards = own[seed]!.map(([, reward]) => reward);
      const variance = beliefs.noise.variance / rewards.length + expected.variance;
      return [{ seed, own: mean(rewards)!, expected, variance }];
    });
}

/**
 * Seeds that the parent solves and the child may have lost: where its text lacks what an ancestor had brought in, those for
 * which that was brought in; then those that were longest not looked at.
 */
function guardSeeds(state: GepaState, beliefs: Beliefs, { candidate, parents, removed }: Trial): number[] {
  const [parent] = parents;
  const solved = state.order
    .map((seed) => ({ seed, belief: beliefs.of(parent!, seed) }))
    .filter(({ seed, belief }) => {
      return belief !== null && belief.mean > 1e-9 && measuredOn(state.results, candidate, seed).length === 0;
    })
    .sort((left, right) => right.belief!.mean - left.belief!.mean || right.belief!.age - left.belief!.age)
    .map(({ seed }) => seed);
  const taught = removed.flatMap((ancestor) =>
    solved.filter((seed) => gainedOn(state, beliefs, ancestor, seed)).slice(0, 2),
  );
  const count = Math.min(guardsOf(state.config), removed.length > 0 ? minibatchOf(state.config) : 1);
  return [...new Set([...taught, ...solved])].slice(
    0,
    Math.max(count, Math.min(taught.length, guardsOf(state.config))),
  );
}

/** Whether a candidate was seen to be better on a seed than what it came from. */
export function gainedOn(state: GepaState, beliefs: Beliefs, candidate: number, seed: number): boolean {
  const own = measuredOn(state.results, candidate, seed);
  if (own.length === 0) return false;
  const expected = beliefs.expected(candidate, seed);
  return expected !== null && mean(own.map(([, reward]) => reward))! > expected.mean + 1e-9;
}
