/** The rewarded rollouts of a search, and which of them are good. */
import { exceeds, solvedReward } from '../../math/rewards.js';
import { readOwn, type Results } from '../../search/results.js';
import type { MiproState } from './state.js';

/** A completed rollout with its reward. */
export interface RewardedRollout {
  ordinal: number;
  candidate: number;
  seed: number;
  reward: number;
}

/** All slots of a request read the same rollouts. Not part of any state. */
const read = new WeakMap<Results, readonly RewardedRollout[]>();

export function rolloutsOf(results: Results): readonly RewardedRollout[] {
  let all = read.get(results);
  if (!all) read.set(results, (all = readRollouts(results)));
  return all;
}

function readRollouts(results: Results): RewardedRollout[] {
  const all: RewardedRollout[] = [];
  for (const [key, own] of Object.entries(results)) {
    const candidate = Number(key);
    for (const [seed, measured] of readOwn(own).seeds) {
      for (const [ordinal, reward] of measured) all.push({ ordinal, candidate, seed, reward });
    }
  }
  return all.sort((left, right) => left.ordinal - right.ordinal);
}

/** The least reward of a good rollout; `solvedReward` if all rewards are equal. */
export function goodRewardThreshold(all: readonly RewardedRollout[]): number {
  let best = -Infinity;
  let worst = Infinity;
  for (const { reward } of all) {
    best = Math.max(best, reward);
    worst = Math.min(worst, reward);
  }
  return exceeds(best, worst) ? worst + 0.8 * (best - worst) : solvedReward;
}

/** Good rollouts on train seeds, by ascending ordinal. */
export function goodRollouts({ results, config }: MiproState): RewardedRollout[] {
  const all = rolloutsOf(results);
  const limit = goodRewardThreshold(all) - 1e-9;
  const train = new Set(config.trainSeeds);
  return all.filter(({ reward, seed }) => reward >= limit && train.has(seed));
}
