/** Which rollouts of a search are good. */
import { exceeds, solvedReward } from '../../math/rewards.js';
import { rolloutsOf, type RewardedRollout } from '../../search/results.js';
import type { MiproState } from './state.js';

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
