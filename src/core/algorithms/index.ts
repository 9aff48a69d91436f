/** The searches by the algorithm that a state names. */
import type { GepaState } from './gepa/state.js';
import { gepa } from './gepa/step.js';
import { createUnpaired, type UnpairedState } from './gepa-live/state.js';
import { unpaired } from './gepa-live/step.js';
import type { MiproState } from './mipro/state.js';
import { mipro } from './mipro/step.js';
import type { SearchAlgorithm } from '../search/protocol.js';

/** A session's state, of any algorithm. */
export type SessionState = GepaState | UnpairedState | MiproState;

const searches = { gepa, unpaired, mipro };

/** The algorithm that a state belongs to. */
export function searchOf(state: SessionState): SearchAlgorithm<SessionState> {
  return searches[state.algorithm] as SearchAlgorithm<SessionState>;
}

/**
 * The state of a session of live traffic whose baseline is answered: calls have shown by then whether they name their instances,
 * and the searches by seeds and without begin with the same rollouts.
 */
export function switchToUnpaired(state: SessionState, traffic: 'paired' | 'unpaired' | null): SessionState {
  if (traffic !== 'unpaired' || state.phase.name !== 'baseline') return state;
  switch (state.algorithm) {
    case 'gepa':
      return createUnpaired(state.config);
    case 'mipro':
      return { ...state, traffic };
    case 'unpaired':
      return state;
  }
}
