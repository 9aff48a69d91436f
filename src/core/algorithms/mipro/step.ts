/** MIPRO (Opsahl-Ong et al., arXiv 2406.11695); `generation.ts` lists the differences. */
import { afterHeldout, defineSearch } from '../../search/lifecycle.js';
import type { SearchAlgorithm } from '../../search/protocol.js';
import { addRewards } from '../../search/round.js';
import {
  afterBaseline,
  afterCombinations,
  afterDemos,
  afterEvaluation,
  afterInstructions,
  afterMinibatch,
  afterTrials,
  resumeGenerations,
} from './generation.js';
import type { MiproState } from './state.js';
import { viewMipro } from './view.js';

export const mipro: SearchAlgorithm<MiproState> = defineSearch<MiproState>({
  advance(before, phase, { proposals, demos }, decisions) {
    if (phase.name === 'heldout') return afterHeldout(before, phase);
    const state = addRewards(before, phase);
    switch (phase.name) {
      case 'baseline':
        return afterBaseline(state, decisions);
      case 'minibatch':
        return afterMinibatch(state, phase.batches.minibatch!.pairs.length, decisions);
      case 'demos':
        return afterDemos(state, demos!, decisions);
      case 'instructions':
        return afterInstructions(state, phase, proposals, decisions);
      case 'combinations':
        return afterCombinations(state, phase, proposals, decisions);
      case 'gate':
        return afterTrials(state, phase, decisions);
      case 'evaluation':
        return afterEvaluation(state, phase, decisions);
    }
  },
  resume: resumeGenerations,
  view: viewMipro,
});
