import { describe, expect, test } from '@jest/globals';
import { configProblems } from '../../../../src/core/algorithms/gepa.js';
import {
  estimateRollouts,
  gepaLimits,
  minimumRollouts,
  type GepaConfig,
} from '../../../../src/core/algorithms/gepa/config.js';
import { config } from './driver.js';

const seeds = (count: number) => Array.from({ length: count }, (_, seed) => seed);

describe('configProblems', () => {
  test.each<[Partial<GepaConfig>, string]>([
    [{ populationSize: 0 }, 'populationSize'],
    [{ generations: 0 }, 'generations'],
    [{ generations: 1.5 }, 'generations'],
    [{ minibatchSize: 0 }, 'minibatchSize'],
    [{ trainSeeds: [] }, 'trainSeeds'],
    [{ trainSeeds: seeds(gepaLimits.trainSeeds + 1) }, 'trainSeeds'],
    [{ evaluationSeeds: [] }, 'evaluationSeeds'],
    [{ evaluationSeeds: [0.5] }, 'evaluationSeeds'],
    [{ evaluationSeeds: seeds(gepaLimits.evaluationSeeds + 1) }, 'evaluationSeeds'],
    [{ rngSeed: 0.5 }, 'rngSeed'],
    [{ populationSize: 50, generations: 40 }, 'generations'],
    [{ populationSize: 400, generations: 1 }, 'minibatchSize'],
    [{ maxRollouts: 17 }, 'maxRollouts'],
    [{ maxRollouts: 18.5 }, 'maxRollouts'],
    [{ heldoutSeeds: [7, 8, 8.5] }, 'heldoutSeeds'],
    [{ heldoutSeeds: seeds(gepaLimits.evaluationSeeds + 1).map((seed) => seed + 10) }, 'heldoutSeeds'],
    [{ heldoutSeeds: [9, 5] }, 'heldoutSeeds'],
    [{ heldoutSeeds: [40, 9], trainSeeds: [1], evaluationSeeds: [40] }, 'heldoutSeeds'],
    [{ repeats: 0 }, 'repeats'],
    [{ repeats: 1.5 }, 'repeats'],
    [{ repeats: Math.ceil(gepaLimits.evaluationRollouts / 6) }, 'repeats'],
    [{ patience: 0 }, 'patience'],
    [{ patience: 0.5 }, 'patience'],
    [{ targetReward: NaN }, 'targetReward'],
    [{ targetReward: Infinity }, 'targetReward'],
    [{ maxRollouts: 18, heldoutSeeds: [10] }, 'maxRollouts'],
    [{ maxRollouts: 18, repeats: 2 }, 'maxRollouts'],
  ])('%j: %s', (overrides, field) => {
    expect(configProblems(config(overrides)).map((problem) => problem.field)).toEqual([field]);
  });

  test.each<Partial<GepaConfig>>([
    { minibatchSize: 10_000 },
    { maxRollouts: 18 },
    { rngSeed: -5 },
    { populationSize: 49, generations: 40 },
    { trainSeeds: [1, 1], evaluationSeeds: [-2, -2] },
    { heldoutSeeds: [] },
    { heldoutSeeds: [6, -1], repeats: 3, patience: 1, targetReward: -0.5, merge: false },
    { patience: null, targetReward: null },
    { repeats: 1_666 },
    { maxRollouts: 18 + 2, heldoutSeeds: [10] },
    { maxRollouts: 18 + 12, repeats: 2 },
  ])('accepts %j', (overrides) => {
    expect(configProblems(config(overrides))).toEqual([]);
  });
});

test('names a held-out seed that the search also uses', () => {
  const [problem] = configProblems(config({ heldoutSeeds: [9, 5, 3] }));
  expect(problem).toEqual({
    field: 'heldoutSeeds',
    message: 'must not hold seeds that the search sees: 5 is among the others',
  });
});

test('the minimum budget covers the baseline and one proposal, with minibatches of at most all train seeds', () => {
  expect(minimumRollouts(config())).toBe(6 + 3 + 3 + 6);
  expect(minimumRollouts(config({ minibatchSize: 99, trainSeeds: [1, 2] }))).toBe(6 + 2 + 2 + 6);
  expect(minimumRollouts(config({ repeats: 2, heldoutSeeds: [10, 11] }))).toBe(12 + 3 + 3 + 12 + 2 * 2 * 2);
});

test('the estimate covers all rollouts, within the budget', () => {
  // Baseline, an evaluation per generation, two minibatches and twice the regression seeds per
  // proposal, and the noise probes.
  expect(estimateRollouts(config())).toBe(6 + 3 * 6 + 3 * 2 * 2 * (3 + 4) + 4);
  expect(estimateRollouts(config({ trainSeeds: [1, 2] }))).toBe(6 + 3 * 6 + 3 * 2 * 2 * (2 + 2) + 4);
  expect(estimateRollouts(config({ repeats: 2, heldoutSeeds: [10] }))).toBe(2 * 24 + 2 * 2 + 84);
  expect(estimateRollouts(config({ maxRollouts: 40 }))).toBe(40);
});
