/** Whole evaluations: which rollouts they are of, and the comparison on what is held out. */
import { mean } from '../math/rewards.js';
import type { Pair } from './batch.js';
import { remainingRollouts, type Budgeted } from './budget.js';
import { heldoutRollouts, type SearchConfig } from './config.js';

/** A candidate on each of the seeds, as often as rollouts are repeated. */
export function evaluationPairs(config: SearchConfig, candidate: number, seeds: readonly number[]): Pair[] {
  return Array.from({ length: config.repeats }, () => seeds.map((seed): Pair => [candidate, seed])).flat();
}

/** The baseline, then the winner, on what is held out; none where nothing is, the baseline has won or the budget has no room. */
export function heldoutPairs(state: Budgeted, winner: number): Pair[] {
  const { config } = state;
  if (winner === 0 || remainingRollouts(state) < heldoutRollouts(config)) return [];
  return [0, winner].flatMap((candidate) => evaluationPairs(config, candidate, config.heldoutSeeds));
}

/** The rewards of `heldoutPairs` in their order, as means over the repeats of each seed. */
export function heldoutMeans({ heldoutSeeds }: SearchConfig, rewards: readonly number[]) {
  const half = rewards.length / 2;
  const seeds = heldoutSeeds!.length;
  const means = (own: readonly number[]) =>
    Array.from({ length: seeds }, (_, index) => mean(own.filter((__, at) => at % seeds === index))!);
  return { baseline: means(rewards.slice(0, half)), winner: means(rewards.slice(half)) };
}
