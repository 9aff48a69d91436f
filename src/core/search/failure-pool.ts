/** Failures to learn from: known results of a lineage, and the train seeds without any. */
import type { RewardModel } from './reward-model.js';
import { isSolved } from '../math/rewards.js';

/** A seed on which a candidate fails, by the latest rollout of itself or an ancestor. */
export interface Failure {
  seed: number;
  ordinal: number;
  age: number;
  /** How often reflections were shown that rollout. */
  shown: number;
  reward: number;
}

/** `timesShown`, by seed: the rollout last shown, and how often. */
interface FailurePool {
  order: readonly number[];
  timesShown: Readonly<Record<string, [ordinal: number, times: number]>>;
}

/** The candidate's failures on the train seeds, the most useful for a reflection first. */
export function knownFailures(state: FailurePool, model: RewardModel, candidate: number): Failure[] {
  const failures: Failure[] = [];
  for (const seed of state.order) {
    const posterior = model.posterior(candidate, seed);
    if (posterior === null || isSolved(posterior.mean)) continue;
    const [ordinal, times] = state.timesShown[seed] ?? [-1, 0];
    const shown = ordinal === posterior.ordinal ? times : 0;
    failures.push({ seed, ordinal: posterior.ordinal, age: posterior.age, shown, reward: posterior.mean });
  }
  // Least shown first, then least edits ago: a later edit may have repaired an old failure.
  return failures.sort(
    (left, right) => left.shown - right.shown || left.age - right.age || right.ordinal - left.ordinal,
  );
}

/** Train seeds without results of the candidate's lineage, in their order. */
export function unevaluatedSeeds(state: FailurePool, model: RewardModel, candidate: number): number[] {
  return state.order.filter((seed) => model.posterior(candidate, seed) === null);
}

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
