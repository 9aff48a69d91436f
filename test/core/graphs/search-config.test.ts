import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { configProblems, estimateRollouts } from '../../../src/core/algorithms/gepa/config.js';
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
        expect(config.generations).toBeLessThanOrEqual(499);
      }),
    );
  });

  test.each([
    ['low', 50, 0.5],
    ['medium', 100, 1],
    ['high', 200, 4],
  ] as const)('%s effort is at most %d generations for 100 rollouts, and traces of %d times the length', (...given) => {
    const [effort, generations, traceDetail] = given;
    const config = graphSearch({ tasks: 100, rolloutBudget: 100, effort, rngSeed: 1 });
    expect(config).toMatchObject({ populationSize: 2, minibatchSize: 2, maxRollouts: 100, generations, traceDetail });
  });

  test('the evaluation takes a tenth of the budget and the held-out tasks a twentieth, of enough tasks', () => {
    const config = graphSearch({ tasks: 100, rolloutBudget: 500, effort: 'medium', rngSeed: 1 });
    expect([config.evaluationSeeds.length, config.heldoutSeeds!.length]).toEqual([30, 25]);
  });

  test('a small budget has small evaluations; the other tasks train', () => {
    const config = graphSearch({ tasks: 100, rolloutBudget: 100, effort: 'low', rngSeed: 1 });
    expect([config.trainSeeds.length, config.evaluationSeeds.length, config.heldoutSeeds!.length]).toEqual([85, 10, 5]);
  });
});
