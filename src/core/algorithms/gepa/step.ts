/**
 * GEPA (Agrawal et al., arXiv 2507.19457); `generation.ts` lists the differences.
 * Invariant: all proposals of a generation derive from the pool at the time of their request.
 */
import { afterHeldout, defineSearch } from '../../search/lifecycle.js';
import type { SearchAlgorithm } from '../../search/protocol.js';
import { addRewards } from '../../search/round.js';
import { afterBaseline, afterRound, resumeGenerations } from './generation.js';
import type { GepaState } from './state.js';
import { viewGepa } from './view.js';

export const gepa: SearchAlgorithm<GepaState> = defineSearch<GepaState>({
  advance(state, phase, { proposals }, decisions) {
    if (phase.name === 'heldout') return afterHeldout(state, phase);
    const rewarded = addRewards(state, phase);
    if (phase.name === 'baseline') return afterBaseline(rewarded, phase.batches.baseline!, decisions);
    return afterRound(rewarded, phase, proposals, decisions);
  },
  resume: resumeGenerations,
  view: viewGepa,
});
