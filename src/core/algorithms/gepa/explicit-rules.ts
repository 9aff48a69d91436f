/**
 * Questions where a text repairs what it was written for and nothing else: each is about failures
 * of one cause, and those that no question has shown come first.
 */
import { minibatchOf } from '../../search/config.js';
import { knownFailures, type Failure } from '../../search/failure-pool.js';
import type { RewardModel } from '../../search/reward-model.js';
import { areProposalsScarce, cohortSize } from './budget.js';
import { parentOf } from './parents.js';
import { newTrial, type GepaState, type Trial } from './state.js';
import { isVaried, variedTrials } from './variation.js';

/** The most failures that the reflections of a generation choose from. */
const maxOffered = 60;

/** At most `most` questions on the parent's failures, without those on `taken` seeds. */
export function ruleTrials(state: GepaState, model: RewardModel, most: number, taken: ReadonlySet<number>): Trial[] {
  return isVaried(state, model) ? variedTrials(state, model, most) : reflections(state, model, most, taken);
}

/** At most `most` reflections on the parent's failures, without those on `taken` seeds. */
function reflections(state: GepaState, model: RewardModel, most: number, taken: ReadonlySet<number>): Trial[] {
  const { config, nextCandidate, begun } = state;
  const size = minibatchOf(config);
  const parent = parentOf(state, model);
  const failures = failuresToShow(state, model, parent).filter(({ seed }) => !taken.has(seed));
  const offered = failures
    .slice(0, Math.min(4 * size * cohortSize(state, begun), maxOffered))
    .map(({ ordinal, seed }) => ({ ordinal, seed }));
  if (offered.length === 0) return [];
  const neverShown = Math.max(1, failures.filter(({ shown }) => shown === 0).length);
  const affordable = Math.min(most, neverShown);
  const isShared = config.slots > 1 || areProposalsScarce(state);
  const share = isShared ? Math.min(size, Math.ceil(offered.length / affordable)) : size;
  // No two proposals get the same failures, so no question is asked twice.
  const count = Math.max(0, Math.min(affordable, Math.ceil(offered.length / share)));
  return Array.from({ length: count }, (_, index): Trial => {
    return { ...newTrial(nextCandidate + index, begun, [parent]), offered };
  });
}

/** The parent's failures that no reflection was shown; all with noise or scarce proposals. */
function failuresToShow(state: GepaState, model: RewardModel, parent: number): Failure[] {
  const failures = knownFailures(state, model, parent);
  if (model.noise.variance > 0 || areProposalsScarce(state)) return failures;
  const chosen = failures.filter(({ shown }) => shown === 0);
  return chosen.length > 0 ? chosen : failures;
}
