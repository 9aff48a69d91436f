/** Which algorithm a session's state belongs to: a session that began under an earlier one ends under it. */
import type { Search } from '../work.js';
import type { LockstepState } from './lockstep/state.js';
import { gepa as lockstep } from './lockstep/step.js';
import type { GepaState } from './state.js';
import { gepa } from './step.js';

/** A session's state, of whichever version. */
export type SessionState = GepaState | LockstepState;

/** The algorithm that a state belongs to. */
export function searchOf(state: SessionState): Search<SessionState> {
  return ('algorithm' in state ? gepa : lockstep) as Search<SessionState>;
}
