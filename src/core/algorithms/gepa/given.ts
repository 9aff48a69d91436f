/** Prompts that people give to a running search: tested as proposals are, against the parent. */
import { searchRollouts } from '../../search/budget.js';
import { minibatchOf } from '../../search/config.js';
import { knownFailures } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { addProposals, reportFailedProposals } from '../../search/proposing.js';
import type { Decision, ProposalAnswer } from '../../search/protocol.js';
import { gepaLimits } from './config.js';
import { incumbentOf } from './pool.js';
import type { GepaState, Trial } from './state.js';

/**
 * Requests the given prompts as children of the incumbent; null: none, no budget is left, or no
 * result of the incumbent is known to compare with.
 */
export function tryGiven(state: GepaState): GepaState | null {
  const { given = [], nextCandidate, order, config } = state;
  const room = Math.min(gepaLimits.candidates - nextCandidate, Math.floor(searchRollouts(state)));
  const taken = given.slice(0, Math.max(0, room));
  if (taken.length === 0) return null;
  const model = rewardModelOf(state);
  const parent = incumbentOf(state, model);
  const failures = knownFailures(state, model, parent).map(({ seed }) => seed);
  // Seeds without results of the parent compare nothing.
  const seeds = failures.length > 0 ? failures : order.filter((seed) => model.posterior(parent, seed) !== null);
  if (seeds.length === 0) return null;
  const trials = taken.map((id, index): Trial => {
    const shown = seeds.slice(0, minibatchOf(config));
    return {
      candidate: nextCandidate + index,
      parents: [parent],
      offered: [],
      shown,
      removed: [],
      rounds: 0,
      given: id,
    };
  });
  return {
    ...state,
    given: given.slice(taken.length),
    nextCandidate: nextCandidate + trials.length,
    phase: { name: 'proposals', trials },
  };
}

/** Adds the given prompts that are new. A duplicate is not the proposer's. */
export function addGiven(
  state: GepaState,
  planned: readonly Trial[],
  answers: readonly ProposalAnswer[],
  decisions: Decision[],
): { state: GepaState; trials: Trial[] } {
  const trials = planned.flatMap((trial, index): Trial[] => {
    const { outcome, removed = [] } = answers[index]!;
    return outcome === 'proposed' ? [{ ...trial, removed }] : [];
  });
  const added = addProposals(state, trials, [], decisions);
  reportFailedProposals(answers, state.generation, decisions);
  return { state: added, trials };
}
