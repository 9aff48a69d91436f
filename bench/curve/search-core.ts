import { gepaDefaults } from '../../src/core/algorithms/gepa/config.js';
import { createGepa } from '../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../src/core/algorithms/gepa/step.js';
import { InProcess, searchInProcess } from '../worlds/in-process.js';
import { openWorld } from '../worlds/world.js';
import { searchTask } from './task.js';
import { populationSize, type CurveStep, type Search, type Trajectory } from './trajectory.js';

export const coreName = 'core';

/**
 * The sessions' search, in process and without waits: for tuning, and to compare with the service.
 */
export function searchCore(search: Search, budgets: readonly number[]): Trajectory {
  const { kind, world, shuffledFeedback, maxRollouts } = search;
  const truth = openWorld(kind, world, { shuffledFeedback });
  const steps: CurveStep[] = [{ rollouts: 0, trueReward: truth.trueReward(truth.baseline) }];
  let rollouts = 0;
  for (const budget of budgets.filter((count) => count <= maxRollouts)) {
    const { trainSeeds, evaluationSeeds, minibatchSize, rngSeed } = searchTask(world, budget);
    const answers = new InProcess(truth);
    const seeds = { trainSeeds, evaluationSeeds, minibatchSize };
    const generations = Math.floor(499 / populationSize);
    const config = { ...gepaDefaults, ...seeds, populationSize, generations, maxRollouts: budget, rngSeed };
    const end = searchInProcess(gepa, createGepa(config), answers);
    rollouts += end.asked;
    steps.push({ rollouts: budget, trueReward: truth.trueReward(answers.textsOf(end.best!.candidate)) });
  }
  return { ...search, rollouts, steps };
}
