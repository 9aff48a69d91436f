import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { configProblems, estimateRollouts, gepaLimits } from '../../../src/core/algorithms/gepa/config.js';
import { graphSearch, type GraphSearchRequest } from '../../../src/core/graphs/search-config.js';
import { range } from '../../support/range.js';

const requests = fc.record<GraphSearchRequest>({
  tasks: fc.integer({ min: 1, max: 2_000 }),
  rolloutBudget: fc.integer({ min: 1, max: 20_000 }),
  effort: fc.constantFrom('low', 'medium', 'high'),
  rngSeed: fc.integer(),
});

describe('graphSearch', () => {
  test('gives a valid configuration unless the budget is too small, and assigns every task once', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const config = graphSearch(request);
        const problems = configProblems(config);
        expect(problems.filter(({ field }) => field !== 'maxRollouts')).toEqual([]);
        if (request.rolloutBudget >= 60) expect(problems).toEqual([]);
        expect(estimateRollouts(config)).toBeLessThanOrEqual(request.rolloutBudget);
        const { trainSeeds, evaluationSeeds, heldoutSeeds = [] } = config;
        const all = new Set([...trainSeeds, ...evaluationSeeds, ...heldoutSeeds]);
        if (request.tasks >= 10) expect(all).toEqual(new Set(range(0, request.tasks)));
        expect(1 + config.populationSize * config.generations).toBeLessThanOrEqual(gepaLimits.candidates);
      }),
    );
  });

  test.each([
    ['low', 1, 2],
    ['medium', 2, 3],
    ['high', 4, 5],
  ] as const)('%s effort is %d proposals a generation, on %d failures', (effort, populationSize, minibatchSize) => {
    const config = graphSearch({ tasks: 100, rolloutBudget: 500, effort, rngSeed: 1 });
    expect(config).toMatchObject({ populationSize, minibatchSize, maxRollouts: 500 });
    expect([config.evaluationSeeds.length, config.heldoutSeeds!.length]).toEqual([32, 20]);
    expect(config.generations).toBe(Math.floor((500 - 2 * 32 - 2 * 20) / (populationSize * 2 * (minibatchSize + 4))));
  });

  test('a small budget has small evaluations; the other tasks train', () => {
    const config = graphSearch({ tasks: 100, rolloutBudget: 100, effort: 'low', rngSeed: 1 });
    expect([config.trainSeeds.length, config.evaluationSeeds.length, config.heldoutSeeds!.length]).toEqual([85, 10, 5]);
  });
});
