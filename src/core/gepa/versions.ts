/** Which algorithm a session's state belongs to: a session that began under an earlier one ends under it. */
import type { Search } from '../work.js';
import type { LockstepState } from './lockstep/state.js';
import { gepa as lockstep } from './lockstep/step.js';
import type { GepaState } from './state.js';
import { gepa } from './step.js';
import { createUnpaired, type UnpairedState } from './unpaired/state.js';
import { unpaired } from './unpaired/step.js';

/** A session's state, of whichever version. */
export type SessionState = GepaState | LockstepState | UnpairedState;

const searches = { 'gepa-2': gepa, 'unpaired-1': unpaired };

/** The algorithm that a state belongs to; a state that names none is of the first one. */
export function searchOf(state: SessionState): Search<SessionState> {
  return ('algorithm' in state ? searches[state.algorithm] : lockstep) as Search<SessionState>;
}

/**
 * The state of a session of live traffic whose baseline is answered: calls have shown by then whether they name their instances,
 * and both searches begin with the same rollouts.
 */
export function forTraffic(state: SessionState, traffic: 'paired' | 'unpaired' | null): SessionState {
  const isBegun = !('algorithm' in state) || state.algorithm !== 'gepa-2' || state.phase.name !== 'baseline';
  return isBegun || traffic !== 'unpaired' ? state : createUnpaired(state.config);
}
