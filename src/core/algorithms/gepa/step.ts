/**
 * GEPA (Agrawal et al., arXiv 2507.19457); `generation.ts` lists the differences.
 * Invariant: all proposals of a generation come from the pool at its beginning.
 */
import { matchProposals } from '../../proposals/proposer-failures.js';
import { addRewards, afterHeldout, defineSearch } from '../../search/lifecycle.js';
import { proposalRequest } from '../../search/proposing.js';
import type { SearchAlgorithm } from '../../search/protocol.js';
import type { PhaseOf } from '../../search/state.js';
import { afterEvaluation, afterMinibatch, afterProposals, afterTestRound, resumeGenerations } from './generation.js';
import type { GepaState } from './state.js';
import { viewGepa } from './view.js';

export const gepa: SearchAlgorithm<GepaState> = defineSearch<GepaState>({
  request({ phase, generation, config }) {
    return proposalRequest((phase as PhaseOf<GepaState, 'proposals'>).trials, generation, config);
  },

  respond(state, response, decisions) {
    const { phase } = state;
    if (phase.name !== 'proposals' || response.kind !== 'proposals') return null;
    return afterProposals(state, phase, matchProposals(phase.trials, response.answers), decisions);
  },

  advance(before, phase, rewards, decisions) {
    if (phase.name === 'heldout') return afterHeldout(before, phase, rewards);
    const state = addRewards(before, phase.batch, rewards);
    switch (phase.name) {
      case 'baseline':
        return afterEvaluation(state, 0, phase.batch, decisions);
      case 'minibatch':
        return afterMinibatch(state, phase.batch, decisions);
      case 'gate':
        return afterTestRound(state, phase, decisions);
      case 'evaluation':
        return afterEvaluation(state, phase.candidate, phase.batch, decisions);
    }
  },

  resume: resumeGenerations,
  view: viewGepa,
});
