/**
 * The offline evaluation: one rollout for each seed, in the order given; a seed that is listed twice runs twice. Means
 * are over the rollouts that succeeded, `numFailed` says the rest.
 */
import type { RolloutRequest } from './work.js';
import { mean } from './scores.js';

export interface EvaluationSummary {
  numSeeds: number;
  numSuccessful: number;
  numFailed: number;
  /** null when no rollout succeeded. */
  meanReward: number | null;
}

/** The requests for `seeds[from..to)`; the ordinal of each is its place in the whole list. */
export function evaluationRequests(seeds: readonly number[], from = 0, to = seeds.length): RolloutRequest[] {
  return seeds
    .slice(from, to)
    .map((seed, offset) => ({ ordinal: from + offset, candidate: 0, seed, stage: 'evaluation', generation: 0 }));
}

/** The summary of the outcomes so far of an evaluation of `numSeeds` seeds; a failed rollout's reward is null. */
export function summarize(numSeeds: number, rewards: readonly (number | null)[]): EvaluationSummary {
  const succeeded = rewards.filter((reward) => reward !== null);
  return {
    numSeeds,
    numSuccessful: succeeded.length,
    numFailed: rewards.length - succeeded.length,
    meanReward: mean(succeeded),
  };
}
