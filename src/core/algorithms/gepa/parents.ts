/** The pool of possible parents, and the best of them. */
import { exceeds, largestReward } from '../../math/rewards.js';
import { seedRng, weightedPick } from '../../math/random.js';
import { isCheaper } from '../../search/costs.js';
import { knownFailures, unevaluatedSeeds } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { RewardModel } from '../../search/reward-model.js';
import type { RatedCandidate } from '../../search/state.js';
import type { GepaState } from './state.js';

const maxPoolSize = 24;
/** Streams below are those of the searches' own random numbers. */
const firstParentStream = 1_000;

/** The candidate with the best estimate on the train seeds; ties: the cheaper, then the earlier. */
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
  const { config, order, pool, generation } = state;
  const incumbent = incumbentOf(state, model);
  if (config.parentSelection === 'estimate') return incumbent;
  const canImprove = (candidate: number) =>
    knownFailures(state, model, candidate).length > 0 || unevaluatedSeeds(state, model, candidate).length > 0;
  const seedsWon = countWins(pool, order, model);
  const front = pool.filter((candidate) => seedsWon.has(candidate) && canImprove(candidate));
  if (front.length === 0) return incumbent;
  // The generation seeds the draw: proposals follow the exploration of the same parent.
  const rng = seedRng(config.rngSeed, firstParentStream + generation);
  const [index] = weightedPick(
    rng,
    front.map((candidate) => seedsWon.get(candidate)!),
  );
  return front[index]!;
}

/** The members of the Pareto front with the number of train seeds on which each is the best. */
function countWins(pool: readonly number[], seeds: readonly number[], model: RewardModel): Map<number, number> {
  const wins = new Map<number, number>();
  for (const seed of seeds) {
    const known = pool.flatMap((candidate) => {
      const posterior = model.posterior(candidate, seed);
      return posterior === null ? [] : [{ candidate, reward: posterior.mean }];
    });
    const best = Math.max(...known.map(({ reward }) => reward));
    for (const { candidate, reward } of known)
      if (!exceeds(best, reward)) wins.set(candidate, (wins.get(candidate) ?? 0) + 1);
  }
  return wins;
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
