/** The pool of possible parents, and the best of them. */
import { exceeds, largestReward } from '../../math/rewards.js';
import { seedRng, weightedPick } from '../../math/random.js';
import { isCheaper } from '../../search/costs.js';
import { knownFailures, unevaluatedSeeds } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { paretoFront, removeDominated } from '../../search/pareto-front.js';
import type { RewardModel } from '../../search/reward-model.js';
import type { RatedCandidate } from '../../search/state.js';
import type { GepaState } from './state.js';

const maxPoolSize = 24;
/** Lower streams are used by the searches themselves. */
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

/** The parent of the next proposals: the one drawn for the generation, else the incumbent. */
export function parentOf(state: GepaState, model: RewardModel): number {
  const { parent } = state;
  return parent !== undefined && canImprove(state, model, parent) ? parent : incumbentOf(state, model);
}

/**
 * Draws the parent of a generation from the Pareto front over the train seeds, by the number of
 * seeds on which a candidate is the best (GEPA, algorithm 2); undefined: the incumbent.
 */
export function drawParent(state: GepaState): number | undefined {
  const { config, order, pool, generation } = state;
  if (config.parentSelection !== 'pareto') return undefined;
  const model = rewardModelOf(state);
  const known = order.filter((seed) => pool.some((candidate) => model.posterior(candidate, seed) !== null));
  const scoresOf = (candidate: number) => known.map((seed) => model.posterior(candidate, seed)?.mean ?? -Infinity);
  const front = paretoFront(new Map(pool.map((candidate) => [candidate, scoresOf(candidate)])));
  const holders = removeDominated(front, (candidate) => model.mean(candidate, order)?.mean ?? -largestReward);
  const parents = holders.filter(({ candidate }) => canImprove(state, model, candidate));
  if (parents.length === 0) return undefined;
  const weights = parents.map(({ seeds }) => seeds.length);
  const [index] = weightedPick(seedRng(config.rngSeed, firstParentStream + generation), weights);
  return parents[index]!.candidate;
}

/** Whether there is anything left to learn from a candidate. */
function canImprove(state: GepaState, model: RewardModel, candidate: number): boolean {
  return knownFailures(state, model, candidate).length > 0 || unevaluatedSeeds(state, model, candidate).length > 0;
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
