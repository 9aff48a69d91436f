import { expect, test } from '@jest/globals';
import { devSeeds } from '../../../../bench/worlds/freeze.js';
import { InProcess, searchInProcess } from '../../../../bench/worlds/in-process.js';
import { openWorld, type WorldKind } from '../../../../bench/worlds/world.js';
import { searchTask } from '../../../../bench/curve/task.js';
import { mean } from '../../../../src/core/math/rewards.js';
import { createGepa } from '../../../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../../../src/core/algorithms/gepa.js';
import { config } from './driver.js';

/** Mean true reward of the winners in three development worlds of a kind, after 200 rollouts. */
function meanTrueReward(kind: WorldKind): number {
  const rewards = devSeeds.slice(0, 3).map((seed) => {
    const world = openWorld(kind, seed);
    const { trainSeeds, evaluationSeeds, minibatchSize, rngSeed } = searchTask(seed, 200);
    const seeds = { trainSeeds, evaluationSeeds, minibatchSize, rngSeed };
    const given = config({ ...seeds, maxRollouts: 200, populationSize: 4, generations: 100 });
    const answers = new InProcess(world);
    const state = searchInProcess(gepa, createGepa(given), answers);
    return world.trueReward(answers.textsOf(gepa.view(state).bestCandidate!));
  });
  return mean(rewards)!;
}

test.each<[WorldKind, number]>([
  ['rules', 0.7],
  ['strict', 0.5],
  ['noisy', 0.5],
  ['components', 0.8],
  ['conflicts', 0.6],
])('worlds of kind %s: 200 rollouts reach a true reward of %f', (kind, least) => {
  expect(meanTrueReward(kind)).toBeGreaterThanOrEqual(least);
});
