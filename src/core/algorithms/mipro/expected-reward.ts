/** The expected reward of a candidate, from results of itself and of its parents. */
import { exceeds, largestReward, mean } from '../../math/rewards.js';
import { cacheByModel, rewardModelOf } from '../../search/model-cache.js';
import type { RewardModel } from '../../search/reward-model.js';
import { rejectedIn } from '../../search/candidates.js';
import { knownCombinations } from './space.js';
import type { MiproState } from './state.js';

/** The expected means of all tried combinations. */
const cachedMeans = cacheByModel<MiproState['choices'], ReadonlyMap<number, number>>();

/**
 * The expected mean: on the same train seeds for all candidates, or on the evaluation seeds while
 * no train seed was run; unpaired, the mean of all own rewards.
 */
export function expectedReward(state: MiproState, model: RewardModel, candidate: number): number {
  if (state.traffic === 'unpaired') {
    const own = Object.values(state.results[candidate] ?? {}).flat();
    return mean(own.map(([, reward]) => reward)) ?? 0;
  }
  return meansOf(state, model).get(candidate) ?? mean(rewardsOn(state, model, [candidate]).get(candidate)!) ?? 0;
}

function meansOf(state: MiproState, model: RewardModel): ReadonlyMap<number, number> {
  return cachedMeans(model, state.choices, () => {
    const tried = knownCombinations(state).filter(({ candidate }) => state.results[candidate] !== undefined);
    const rewards = rewardsOn(state, model, [0, ...tried.map(({ candidate }) => candidate)]);
    return new Map([...rewards].map(([candidate, own]) => [candidate, mean(own) ?? 0]));
  });
}

/** The expected rewards on the seeds that candidates are compared on. */
function rewardsOn(
  { order, config }: MiproState,
  model: RewardModel,
  candidates: readonly number[],
): ReadonlyMap<number, readonly number[]> {
  const rewards = model.comparable(candidates, order);
  const isKnown = rewards.get(candidates[0]!)!.length > 0;
  return isKnown ? rewards : model.comparable(candidates, config.evaluationSeeds);
}

/** The candidate with the greatest expected reward, evaluated or not; ties go to the earliest. */
export function leaderOf(state: MiproState, model: RewardModel): number {
  const isRejected = rejectedOf(state);
  let leader = { candidate: 0, expected: -largestReward };
  for (const { candidate } of knownCombinations(state)) {
    if (state.results[candidate] === undefined || isRejected.has(candidate)) continue;
    const expected = expectedReward(state, model, candidate);
    if (exceeds(expected, leader.expected)) leader = { candidate, expected };
  }
  return leader.candidate;
}

/** Rejected candidates; unpaired, a rejected candidate may still lead. */
function rejectedOf({ candidates, traffic }: MiproState): ReadonlySet<number> {
  return traffic === 'unpaired' ? new Set() : rejectedIn(candidates);
}

/** The unevaluated candidate that promises most, if it promises more than the best. */
export function mostPromising(state: MiproState): number | null {
  const model = rewardModelOf(state);
  if (state.traffic === 'paired') {
    const leader = leaderOf(state, model);
    return state.candidates.find(({ candidate }) => candidate === leader)!.reward === null ? leader : null;
  }
  let found: { candidate: number; expected: number } | null = null;
  for (const { candidate } of knownCombinations(state)) {
    const summary = state.candidates.find((known) => known.candidate === candidate);
    if (!summary || summary.reward !== null || state.results[candidate] === undefined) continue;
    if (summary.status === 'rejected') continue;
    const expected = expectedReward(state, model, candidate);
    if (exceeds(expected, found?.expected ?? state.best!.reward)) found = { candidate, expected };
  }
  return found?.candidate ?? null;
}

/** Whether equal rollouts may differ, so that rewards of trials do not count for an evaluation. */
export function isNoisy(state: MiproState): boolean {
  return state.traffic === 'unpaired' || state.config.repeats > 1 || rewardModelOf(state).noise.variance > 0;
}
