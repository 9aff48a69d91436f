/** Prompts that people give to a running search: tested as proposals are, against the parent. */
import { searchRollouts } from '../../search/budget.js';
import { minibatchOf } from '../../search/config.js';
import { knownFailures } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { gepaLimits } from './config.js';
import { incumbentOf } from './pool.js';
import { newTrial, type GepaState, type Trial } from './state.js';

/**
 * Plans the given prompts as children of the incumbent; null: none, no budget is left, or no result
 * of the incumbent is known to compare with.
 */
export function planGiven(state: GepaState): { state: GepaState; trials: Trial[] } | null {
  const { given = [], nextCandidate, order, config, begun } = state;
  const room = Math.min(gepaLimits.candidates - nextCandidate, Math.floor(searchRollouts(state)));
  const taken = given.slice(0, Math.max(0, room));
  if (taken.length === 0) return null;
  const model = rewardModelOf(state);
  const parent = incumbentOf(state, model);
  const failures = knownFailures(state, model, parent).map(({ seed }) => seed);
  // Seeds without results of the parent compare nothing.
  const seeds = failures.length > 0 ? failures : order.filter((seed) => model.posterior(parent, seed) !== null);
  if (seeds.length === 0) return null;
  const shown = seeds.slice(0, minibatchOf(config));
  const trials = taken.map((id, index) => ({ ...newTrial(nextCandidate + index, begun, [parent]), shown, given: id }));
  return {
    state: { ...state, given: given.slice(taken.length), nextCandidate: nextCandidate + trials.length },
    trials,
  };
}
