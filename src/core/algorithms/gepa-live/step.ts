/**
 * GEPA over live calls without a known instance; a sequential test compares independent samples.
 * After the baseline the `seed` of a request is its index in the batch.
 */
import { matchProposals } from '../../proposals/proposer-failures.js';
import { defineSearch } from '../../search/lifecycle.js';
import { proposalRequests } from '../../search/proposing.js';
import type { SearchAlgorithm } from '../../search/protocol.js';
import type { PhaseOf } from '../../search/state.js';
import { afterTestRound } from './acceptance.js';
import type { RolloutReward } from './failure-pool.js';
import {
  afterBaseline,
  afterEvaluation,
  afterHeldout,
  afterMinibatch,
  afterProposals,
  plannedProposals,
} from './stages.js';
import type { UnpairedState } from './state.js';
import { viewUnpaired } from './view.js';

export const unpaired: SearchAlgorithm<UnpairedState> = defineSearch<UnpairedState>({
  request({ phase, generation, config, incumbent }) {
    const planned = plannedProposals(incumbent!.candidate, phase as PhaseOf<UnpairedState, 'proposals'>);
    return { kind: 'proposals', requests: proposalRequests(planned, generation, config) };
  },

  respond(state, response, decisions) {
    const { phase, incumbent } = state;
    if (phase.name !== 'proposals' || response.kind !== 'proposals') return null;
    const planned = plannedProposals(incumbent!.candidate, phase);
    return afterProposals(state, planned, matchProposals(planned, response.answers), decisions);
  },

  advance(state, phase, rewards, decisions) {
    const { pairs, ordinals } = phase.batch;
    const measured = pairs.map(([candidate], index): RolloutReward => {
      return { candidate, ordinal: ordinals[index]!, reward: rewards[index]! };
    });
    switch (phase.name) {
      case 'baseline':
        return afterBaseline(state, measured, decisions);
      case 'minibatch':
        return afterMinibatch(state, phase, measured, decisions);
      case 'gate':
        return afterTestRound(state, phase, measured, decisions);
      case 'evaluation':
        return afterEvaluation(state, phase, measured, decisions);
      case 'heldout':
        return afterHeldout(state, phase, measured);
    }
  },

  // HTTP extends no session over live traffic.
  resume: () => null,
  view: viewUnpaired,
});
