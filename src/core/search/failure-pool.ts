/**
 * What there is to learn from: the failures of a parent that are paid for already, its own or those that it inherits, and
 * which train seeds to run it on when there are too few.
 */
import type { RewardModel } from './reward-model.js';
import { isSolved } from '../math/rewards.js';

/** A seed on which a candidate fails, by its latest rollout there, its own or an ancestor's. */
export interface Failure {
  seed: number;
  ordinal: number;
  age: number;
  /** How often that rollout was shown already. */
  shown: number;
  reward: number;
}

/** What of a search's state that takes: `order` are the train seeds, `attempts` by seed under which rollout it was shown last and how often since. */
interface FailurePool {
  order: readonly number[];
  timesShown: Readonly<Record<string, [ordinal: number, times: number]>>;
}

/** The candidate's failures on the train seeds, those first that a reflection is likeliest to learn from. */
export function knownFailures(state: FailurePool, model: RewardModel, candidate: number): Failure[] {
  const failures: Failure[] = [];
  for (const seed of state.order) {
    const belief = model.posterior(candidate, seed);
    if (belief === null || isSolved(belief.mean)) continue;
    const [ordinal, times] = state.timesShown[seed] ?? [-1, 0];
    const shown = ordinal === belief.ordinal ? times : 0;
    failures.push({ seed, ordinal: belief.ordinal, age: belief.age, shown, reward: belief.mean });
  }
  // What was never shown comes first, then what was measured last: an old failure may be mended by now.
  return failures.sort(
    (left, right) => left.shown - right.shown || left.age - right.age || right.ordinal - left.ordinal,
  );
}

/** Train seeds on which nothing of a candidate's lineage was ever run, in the order in which they are to be. */
export function unevaluatedSeeds(state: FailurePool, model: RewardModel, candidate: number): number[] {
  return state.order.filter((seed) => model.posterior(candidate, seed) === null);
}

/** The failures that were shown once more. */
export function countShown(
  timesShown: FailurePool['timesShown'],
  shown: readonly { seed: number; ordinal: number }[],
): Record<string, [ordinal: number, times: number]> {
  const after: Record<string, [ordinal: number, times: number]> = { ...timesShown };
  for (const { seed, ordinal } of shown) {
    const [before, times] = after[seed] ?? [-1, 0];
    after[seed] = [ordinal, before === ordinal ? times + 1 : 1];
  }
  return after;
}
