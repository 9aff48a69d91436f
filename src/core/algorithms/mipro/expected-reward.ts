/** The expected reward of a combination, from results of itself and of its parents. */
import { exceeds, largestReward, mean } from '../../math/rewards.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { RewardModel } from '../../search/reward-model.js';
import { knownCombinations } from './space.js';
import type { MiproState } from './state.js';

/** The expected mean on the evaluation seeds; unpaired, the mean of all own rewards. */
export function expectedReward(state: MiproState, model: RewardModel, candidate: number): number {
  if (state.traffic === 'paired') {
    return model.means(state.candidates, state.config.evaluationSeeds).get(candidate) ?? 0;
  }
  const own = Object.values(state.results[candidate] ?? {}).flat();
  return mean(own.map(([, reward]) => reward)) ?? 0;
}

/** The candidate with the greatest expected reward, evaluated or not; ties go to the earliest. */
export function leaderOf(state: MiproState, model: RewardModel): number {
  let leader = { candidate: 0, expected: -largestReward };
  for (const { candidate } of knownCombinations(state)) {
    if (state.results[candidate] === undefined) continue;
    const expected = expectedReward(state, model, candidate);
    if (exceeds(expected, leader.expected)) leader = { candidate, expected };
  }
  return leader.candidate;
}

/** The first unevaluated candidate with the greatest expected reward above the best. */
export function mostPromising(state: MiproState): number | null {
  const model = rewardModelOf(state);
  let found: { candidate: number; expected: number } | null = null;
  for (const { candidate } of knownCombinations(state)) {
    const summary = state.candidates.find((known) => known.candidate === candidate);
    if (!summary || summary.reward !== null || state.results[candidate] === undefined) continue;
    if (state.traffic === 'unpaired' && summary.status === 'rejected') continue;
    const expected = expectedReward(state, model, candidate);
    if (exceeds(expected, found?.expected ?? state.best!.reward)) found = { candidate, expected };
  }
  return found?.candidate ?? null;
}

/** Whether equal rollouts may differ, so that rewards of trials do not count for an evaluation. */
export function isNoisy(state: MiproState): boolean {
  return state.traffic === 'unpaired' || state.config.repeats > 1 || rewardModelOf(state).noise.variance > 0;
}
