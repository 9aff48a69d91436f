/**
 * GEPA (Agrawal et al., arXiv 2507.19457); `gepa/generation.ts` lists the differences.
 * Invariant: all proposals of a generation derive from the pool at the time of their request.
 */
import { afterHeldout, defineSearch } from '../search/lifecycle.js';
import type { SearchAlgorithm } from '../search/protocol.js';
import { addRewards } from '../search/round.js';
import { afterBaseline, afterDemos, afterRound, resumeGenerations } from './gepa/generation.js';
import type { GepaState } from './gepa/state.js';
import { viewGepa } from './gepa/view.js';

export const gepa: SearchAlgorithm<GepaState> = defineSearch<GepaState>({
  keep: addRewards,
  after: { baseline: afterBaseline, round: afterRound, demos: afterDemos, heldout: afterHeldout },
  resume: resumeGenerations,
  view: viewGepa,
});
