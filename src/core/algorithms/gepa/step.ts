/**
 * GEPA (Agrawal et al., arXiv 2507.19457); `generation.ts` lists the differences.
 * Invariant: all proposals of a generation derive from the pool at the time of their request.
 */
import { addRewards, afterHeldout, defineSearch } from '../../search/lifecycle.js';
import type { SearchAlgorithm } from '../../search/protocol.js';
import { afterBaseline, afterRound, resumeGenerations } from './generation.js';
import { foldRound, requestOf } from './round.js';
import type { GepaState, RoundPhase } from './state.js';
import { viewGepa } from './view.js';

export const gepa: SearchAlgorithm<GepaState> = defineSearch<GepaState>({
  request: (state) => requestOf(state, state.phase as RoundPhase),

  respond(before, response, decisions) {
    if (before.phase.name !== 'round') return null;
    const round = foldRound(before, before.phase, response, decisions);
    if (round === null || round.answers === null) return round && round.state;
    return afterRound(round.state, round.phase, round.answers, decisions);
  },

  advance(state, phase, rewards, decisions) {
    if (phase.name === 'heldout') return afterHeldout(state, phase, rewards);
    return afterBaseline(addRewards(state, phase.batch, rewards), phase.batch, decisions);
  },

  resume: resumeGenerations,
  view: viewGepa,
});
