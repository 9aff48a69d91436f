import type { GepaConfig } from '../../../../src/core/gepa/config.js';
import { createLockstep, type LockstepState } from '../../../../src/core/gepa/lockstep/state.js';
import { gepa } from '../../../../src/core/gepa/lockstep/step.js';
import * as driver from '../driver.js';

export { answer, config, type World } from '../driver.js';
export type Turn = driver.Turn<LockstepState>;
export type Run = driver.Run<LockstepState>;

/** Runs a search to its end; `between` may replace the state between any two turns. */
export function drive(
  start: GepaConfig | LockstepState,
  world: driver.World,
  between: (state: LockstepState) => LockstepState = (state) => state,
): Run {
  return driver.driveSearch(gepa, 'phase' in start ? start : createLockstep(start), world, between);
}

/** A world in which every proposal is a new text. */
export function scoring(rollout: driver.World['rollout']): driver.World {
  return { rollout, propose: () => ({ outcome: 'proposed' }) };
}
