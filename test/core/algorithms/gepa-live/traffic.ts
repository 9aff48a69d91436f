import type { GepaConfig } from '../../../../src/core/algorithms/gepa/config.js';
import { createUnpaired, type UnpairedState } from '../../../../src/core/algorithms/gepa-live/state.js';
import { unpaired } from '../../../../src/core/algorithms/gepa-live.js';
import { seedRng, uniformInt } from '../../../../src/core/math/random.js';
import type { RolloutRequest } from '../../../../src/core/search/protocol.js';
import { driveSearch, proposed, type Run, type World } from '../gepa/driver.js';

/** Runs a search by live traffic to its end; `between` may replace the state between turns. */
export function serve(
  start: GepaConfig,
  world: World,
  between?: (state: UnpairedState) => UnpairedState,
): Run<UnpairedState> {
  return driveSearch(unpaired, createUnpaired(start), world, between);
}

/** A number from 0 to 1, determined by seed and ordinal. */
export function chanceOf(seed: number, ordinal: number): number {
  return uniformInt(seedRng(seed, ordinal + 1), 1_000_000)[0] / 1_000_000;
}

/** Binary rewards with the given chance of 1; every proposal is a new text. */
export function traffic(seed: number, chance: (request: RolloutRequest) => number): World {
  return { rollout: (request) => (chanceOf(seed, request.ordinal) < chance(request) ? 1 : 0), propose: proposed };
}
