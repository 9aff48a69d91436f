/** On the benchmark's worlds for tuning (never those it compares on): half the rollouts go further than the earlier search. */
import { describe, expect, test } from '@jest/globals';
import { devSeeds } from '../../../bench/worlds/freeze.js';
import { InProcess, searchInProcess } from '../../../bench/worlds/in-process.js';
import { openWorld, type WorldKind } from '../../../bench/worlds/world.js';
import { taskOf } from '../../../bench/curve/task.js';
import type { GepaConfig } from '../../../src/core/gepa/config.js';
import { createLockstep } from '../../../src/core/gepa/lockstep/state.js';
import { gepa as lockstep } from '../../../src/core/gepa/lockstep/step.js';
import { mean } from '../../../src/core/scores.js';
import { createGepa } from '../../../src/core/gepa/state.js';
import { gepa } from '../../../src/core/gepa/step.js';
import type { Search } from '../../../src/core/work.js';

/** The mean true reward of what a search finds in the worlds of a kind. */
function reached<State>(
  search: Search<State>,
  create: (config: GepaConfig) => State,
  kind: WorldKind,
  maxRollouts: number,
) {
  const rewards = devSeeds.slice(0, 3).map((seed) => {
    const world = openWorld(kind, seed);
    const task = taskOf(seed, maxRollouts);
    const { trainSeeds, evaluationSeeds, minibatchSize, rngSeed } = task;
    const config = {
      trainSeeds,
      evaluationSeeds,
      minibatchSize,
      rngSeed,
      maxRollouts,
      populationSize: 4,
      generations: 100,
    };
    const answers = new InProcess(world);
    const state = searchInProcess(search, create(config), answers);
    return world.trueReward(answers.textsOf(search.view(state).bestCandidate!));
  });
  return mean(rewards)!;
}

describe('200 rollouts of the search reach more than 400 of lockstep', () => {
  test.each<WorldKind>(['rules', 'strict', 'noisy', 'components', 'conflicts'])('in worlds of kind %s', (kind) => {
    const before = reached(lockstep, createLockstep, kind, 400);
    const now = reached(gepa, createGepa, kind, 200);
    expect(now).toBeGreaterThan(before);
  });
});
