/**
 * GEPA over live calls without a known instance; a sequential test compares independent samples.
 * After the baseline the `seed` of a request is its index in the batch.
 */
import { defineSearch } from '../search/lifecycle.js';
import type { SearchAlgorithm } from '../search/protocol.js';
import { afterTestRound } from './gepa-live/acceptance.js';
import { afterBaseline, afterEvaluation, afterHeldout, afterMinibatch, afterProposals } from './gepa-live/stages.js';
import type { UnpairedState } from './gepa-live/state.js';
import { viewUnpaired } from './gepa-live/view.js';

export const unpaired: SearchAlgorithm<UnpairedState> = defineSearch<UnpairedState>({
  // Rewards count in their round alone: seeds mean nothing.
  keep: (state) => state,
  after: {
    baseline: afterBaseline,
    minibatch: afterMinibatch,
    proposals: afterProposals,
    gate: afterTestRound,
    evaluation: afterEvaluation,
    heldout: afterHeldout,
  },
  // HTTP extends no session over live traffic.
  resume: (state) => state,
  view: viewUnpaired,
});
