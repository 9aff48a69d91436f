import type { MiproConfig } from '../../../../src/core/algorithms/mipro/config.js';
import { createMipro, type MiproState } from '../../../../src/core/algorithms/mipro/state.js';
import { mipro } from '../../../../src/core/algorithms/mipro.js';
import type { RolloutRequest, DemoAnswer, DemoRequest } from '../../../../src/core/search/protocol.js';
import { driveSearch, proposed, type Run, type World } from '../gepa/driver.js';

export interface MiproWorld extends World {
  findDemos(request: DemoRequest): DemoAnswer;
}

export function config(overrides: Partial<MiproConfig> = {}): MiproConfig {
  return {
    numCandidates: 4,
    numTrials: 15,
    minibatchSize: 3,
    maxBootstrappedDemos: 2,
    maxLabeledDemos: 2,
    trainSeeds: [0, 1, 2, 3, 4, 5],
    evaluationSeeds: [10, 11, 12, 13, 14, 15],
    heldoutSeeds: [],
    repeats: 1,
    patience: null,
    targetReward: null,
    maxRollouts: null,
    rngSeed: 0,
    ...overrides,
  };
}

/** Runs a search to its end; `between` may replace the state between any two turns. */
export function drive(
  start: MiproConfig | MiproState,
  world: MiproWorld,
  between?: (state: MiproState) => MiproState,
): Run<MiproState> {
  return driveSearch(mipro, 'phase' in start ? start : createMipro(start), world, between);
}

/** A search on live traffic without seeds; see `switchToUnpaired`. */
export function unpaired(given: MiproConfig): MiproState {
  return { ...createMipro(given), traffic: 'unpaired' };
}

/** Finds every rollout usable, in the calls of the component `system`. */
export function showsAll(components: string[] = ['system']): MiproWorld['findDemos'] {
  return ({ ordinals }) => ({
    components,
    slots: [{ component: 'system', bootstrapped: ordinals, labeled: ordinals, sameAnswer: [] }],
  });
}

/** A world in which every proposal is a new text. */
export function scoring(
  rollout: (request: RolloutRequest) => ReturnType<World['rollout']>,
  findDemos: MiproWorld['findDemos'] = showsAll(),
): MiproWorld {
  return { rollout, propose: proposed, findDemos };
}
