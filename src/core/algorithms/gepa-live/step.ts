/**
 * GEPA over live calls without a known instance; a sequential test compares independent samples.
 * After the baseline the `seed` of a request is its index in the batch.
 */
import { defineSearch } from '../../search/lifecycle.js';
import type { SearchAlgorithm } from '../../search/protocol.js';
import { measuredIn } from '../../search/round.js';
import { afterTestRound } from './acceptance.js';
import { afterBaseline, afterEvaluation, afterHeldout, afterMinibatch, afterProposals } from './stages.js';
import type { UnpairedState } from './state.js';
import { viewUnpaired } from './view.js';

export const unpaired: SearchAlgorithm<UnpairedState> = defineSearch<UnpairedState>({
  advance(state, phase, { proposals }, decisions) {
    const measured = measuredIn(phase);
    switch (phase.name) {
      case 'baseline':
        return afterBaseline(state, measured, decisions);
      case 'minibatch':
        return afterMinibatch(state, phase, measured, decisions);
      case 'proposals':
        return afterProposals(state, proposals, decisions);
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
