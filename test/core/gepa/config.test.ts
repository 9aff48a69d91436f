import { describe, expect, test } from '@jest/globals';
import {
  configProblems,
  estimateRollouts,
  gepaLimits,
  minimumRollouts,
  type GepaConfig,
} from '../../../src/core/gepa/config.js';
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
    [{ perfectScore: NaN }, 'perfectScore'],
    [{ populationSize: 50, generations: 10 }, 'generations'],
    [{ populationSize: 400, generations: 1 }, 'minibatchSize'],
    [{ maxRollouts: 17 }, 'maxRollouts'],
    [{ maxRollouts: 18.5 }, 'maxRollouts'],
  ])('%j: %s', (overrides, field) => {
    expect(configProblems(config(overrides)).map((problem) => problem.field)).toEqual([field]);
  });

  test.each<Partial<GepaConfig>>([
    { minibatchSize: 10_000 },
    { maxRollouts: 18 },
    { rngSeed: -5 },
    { populationSize: 49, generations: 10 },
    { trainSeeds: [1, 1], evaluationSeeds: [-2, -2] },
  ])('%j is fine', (overrides) => {
    expect(configProblems(config(overrides))).toEqual([]);
  });
});

test('the least budget is the baseline and one proposal in full, the minibatch clipped to the train seeds', () => {
  expect(minimumRollouts(config())).toBe(6 + 3 + 3 + 6);
  expect(minimumRollouts(config({ minibatchSize: 99, trainSeeds: [1, 2] }))).toBe(6 + 2 + 2 + 6);
});

test('the estimate is everything, within the budget', () => {
  expect(estimateRollouts(config())).toBe(6 + 3 * 2 * (3 + 3 + 6));
  expect(estimateRollouts(config({ maxRollouts: 40 }))).toBe(40);
});
