/** The pool of possible parents, and the best of them. */
import { exceeds, largestReward } from '../../math/rewards.js';
import { isCheaper } from '../../search/costs.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { RewardModel } from '../../search/reward-model.js';
import type { RatedCandidate } from '../../search/state.js';
import type { GepaState } from './state.js';

const maxPoolSize = 24;

/**
 * The candidate with the best estimate on the train seeds; ties go to the cheaper, then the
 * earlier.
 */
export function incumbentOf(state: GepaState, model: RewardModel): number {
  const rate = (candidate: number): RatedCandidate => {
    return { candidate, reward: model.mean(candidate, state.order)?.mean ?? -largestReward };
  };
  let best = rate(0);
  for (const candidate of state.pool) {
    const rated = rate(candidate);
    if (isBetter(state, rated, best)) best = rated;
  }
  return best.candidate;
}

/** The parent of the next proposals. */
export function parentOf(state: GepaState, model: RewardModel): number {
  return incumbentOf(state, model);
}

/** More reward, or the same reward at less cost. */
export function isBetter({ costs }: GepaState, rated: RatedCandidate, than: RatedCandidate): boolean {
  if (exceeds(rated.reward, than.reward)) return true;
  return !exceeds(than.reward, rated.reward) && isCheaper(costs, rated.candidate, than.candidate);
}

/** Keeps the baseline and the `maxPoolSize` candidates with the best estimates. */
export function trimPool(state: GepaState): GepaState {
  if (state.pool.length <= maxPoolSize) return state;
  const model = rewardModelOf(state);
  const estimates = new Map(
    state.pool.map((candidate) => [candidate, model.mean(candidate, state.order)?.mean ?? -Infinity]),
  );
  const ranked = [...state.pool].sort((left, right) => estimates.get(right)! - estimates.get(left)! || left - right);
  const kept = new Set(ranked.slice(0, maxPoolSize));
  return { ...state, pool: state.pool.filter((candidate) => kept.has(candidate) || candidate === 0) };
}
