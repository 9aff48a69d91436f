/** The pool of possible parents, compared over the same train seeds. */
import { exceeds, largestReward, mean } from '../../math/rewards.js';
import { isCheaper } from '../../search/costs.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { RewardModel } from '../../search/reward-model.js';
import type { RatedCandidate } from '../../search/state.js';
import type { GepaState } from './state.js';

const maxPoolSize = 24;

/** The pool's expected means by reward model; several decisions of a step need them. */
const lastMeans = new WeakMap<RewardModel, { pool: readonly number[]; means: ReadonlyMap<number, number> }>();

/** The expected mean of each candidate of the pool, over the same train seeds for all. */
export function meansOf({ pool, order }: GepaState, model: RewardModel): ReadonlyMap<number, number> {
  const last = lastMeans.get(model);
  if (last?.pool === pool) return last.means;
  const rewards = model.comparable(pool, order);
  const means = new Map([...rewards].map(([candidate, own]) => [candidate, mean(own) ?? -largestReward]));
  lastMeans.set(model, { pool, means });
  return means;
}

/** The candidate with the best expected mean; ties: the cheaper, then the earlier. */
export function incumbentOf(state: GepaState, model: RewardModel): number {
  const rated = [...meansOf(state, model)].map(([candidate, reward]): RatedCandidate => ({ candidate, reward }));
  return rated.reduce((best, other) => (isBetter(state, other, best) ? other : best)).candidate;
}

/** More reward, or the same reward at less cost or by a shorter text. */
export function isBetter({ costs, compressed }: GepaState, rated: RatedCandidate, than: RatedCandidate): boolean {
  if (exceeds(rated.reward, than.reward)) return true;
  if (exceeds(than.reward, rated.reward)) return false;
  if (isCheaper(costs, rated.candidate, than.candidate)) return true;
  return !isCheaper(costs, than.candidate, rated.candidate) && isShorter(compressed, rated.candidate, than.candidate);
}

/** Whether a candidate is the result of compressions of another. */
function isShorter(compressed: GepaState['compressed'], candidate: number, than: number): boolean {
  for (let next = compressed[than]; next !== undefined; next = compressed[next]) if (next === candidate) return true;
  return false;
}

/** Whether a candidate of the first incomplete generation was accepted. */
export function hasAccepted({ candidates, pool, generation }: GepaState): boolean {
  return candidates.some((summary) => summary.generation === generation && pool.includes(summary.candidate));
}

/** Keeps the baseline and the `maxPoolSize` candidates with the best estimates. */
export function trimPool(state: GepaState): GepaState {
  if (state.pool.length <= maxPoolSize) return state;
  const estimates = meansOf(state, rewardModelOf(state));
  const ranked = [...state.pool].sort((left, right) => estimates.get(right)! - estimates.get(left)! || left - right);
  const kept = new Set(ranked.slice(0, maxPoolSize));
  return { ...state, pool: state.pool.filter((candidate) => kept.has(candidate) || candidate === 0) };
}
