/** What operators and HTTP see of a GEPA search. */
import type { SearchView } from '../../work.js';
import { rolloutsAhead } from './budget.js';
import type { LockstepState } from './state.js';

/** `rolloutsPlanned` is what was asked for and the most that can follow; it meets `rolloutsCompleted` at the end. */
export function viewLockstep(state: LockstepState): SearchView {
  const { config, best } = state;
  return {
    generation: state.generation,
    totalGenerations: config.generations,
    bestCandidate: best?.candidate ?? null,
    bestReward: best?.reward ?? null,
    rolloutsPlanned: state.asked + rolloutsAhead(state),
    rolloutsCompleted: state.answered,
    maxRollouts: config.maxRollouts,
    candidates: state.candidates,
    history: state.history.map((bestReward, generation) => ({ generation, bestReward })),
  };
}
