/** MIPRO (Opsahl-Ong et al., arXiv 2406.11695); `mipro/generation.ts` lists the differences. */
import { afterHeldout, defineSearch } from '../search/lifecycle.js';
import type { SearchAlgorithm } from '../search/protocol.js';
import { addRewards } from '../search/round.js';
import {
  afterBaseline,
  afterCombinations,
  afterDemos,
  afterEvaluation,
  afterInstructions,
  afterMinibatch,
  afterTrials,
  resumeGenerations,
} from './mipro/generation.js';
import type { MiproState } from './mipro/state.js';
import { viewMipro } from './mipro/view.js';

export const mipro: SearchAlgorithm<MiproState> = defineSearch<MiproState>({
  keep: addRewards,
  after: {
    baseline: afterBaseline,
    minibatch: afterMinibatch,
    demos: afterDemos,
    instructions: afterInstructions,
    combinations: afterCombinations,
    gate: afterTrials,
    evaluation: afterEvaluation,
    heldout: afterHeldout,
  },
  resume: resumeGenerations,
  view: viewMipro,
});
