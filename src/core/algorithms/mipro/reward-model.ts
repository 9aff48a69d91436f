/** What is expected of a combination, from what was measured of it and of those that it was made from. */
import { mean } from '../../math/rewards.js';
import { RewardModel } from '../../search/reward-model.js';
import type { Results } from '../../search/results.js';
import type { MiproState } from './state.js';

/** The last beliefs that were read from some results: a turn asks for the same ones many times. Not part of any state. */
const lastRead = new WeakMap<Results, { candidates: MiproState['candidates']; beliefs: RewardModel }>();
const noParents: readonly number[] = [];

export function rewardModelOf({ results, candidates }: MiproState): RewardModel {
  const last = lastRead.get(results);
  if (last?.candidates.length === candidates.length) return last.beliefs;
  const parents = new Map(candidates.map((one) => [one.candidate, one.parents]));
  const model = new RewardModel(results, (candidate) => parents.get(candidate) ?? noParents);
  lastRead.set(results, { candidates, beliefs: model });
  return model;
}

/**
 * The mean that is expected of a candidate on the evaluation seeds. Of live traffic that names no instance seeds say nothing:
 * there it is the mean of all that it scored.
 */
export function expectedReward(state: MiproState, model: RewardModel, candidate: number): number {
  if (state.traffic === 'paired') {
    return model.means(state.candidates, state.config.evaluationSeeds).get(candidate) ?? 0;
  }
  const own = Object.values(state.results[candidate] ?? {}).flat();
  return mean(own.map(([, reward]) => reward)) ?? 0;
}
