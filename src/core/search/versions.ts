/** Which algorithm a session's state belongs to: a session that began under an earlier one ends under it. */
import type { LockstepState } from '../gepa/lockstep/state.js';
import { gepa as lockstep } from '../gepa/lockstep/step.js';
import type { GepaState } from '../gepa/state.js';
import { gepa } from '../gepa/step.js';
import { createUnpaired, type UnpairedState } from '../gepa/unpaired/state.js';
import { unpaired } from '../gepa/unpaired/step.js';
import type { MiproState } from '../mipro/state.js';
import { mipro } from '../mipro/step.js';
import type { Search } from '../work.js';

/** A session's state, of whichever algorithm and version. */
export type SessionState = GepaState | LockstepState | UnpairedState | MiproState;

const searches = { 'gepa-2': gepa, 'unpaired-1': unpaired, 'mipro-1': mipro };

/** The algorithm that a state belongs to; a state that names none is of the first one. */
export function searchOf(state: SessionState): Search<SessionState> {
  return ('algorithm' in state ? searches[state.algorithm] : lockstep) as Search<SessionState>;
}

/**
 * The state of a session of live traffic whose baseline is answered: calls have shown by then whether they name their instances,
 * and the searches by seeds and without begin with the same rollouts.
 */
export function forTraffic(state: SessionState, traffic: 'paired' | 'unpaired' | null): SessionState {
  if (traffic !== 'unpaired' || !('algorithm' in state) || state.phase.name !== 'baseline') return state;
  switch (state.algorithm) {
    case 'gepa-2':
      return createUnpaired(state.config);
    case 'mipro-1':
      return { ...state, traffic };
    case 'unpaired-1':
      return state;
  }
}
