import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { graphSearch, type GraphSearchRequest } from '../../../src/core/graphs/search-config.js';
import { drive, proposed, type World } from '../algorithms/gepa/driver.js';
import { pureRuns } from '../../support/runs.js';

/** A world in which no proposal gains: `solved` percent of the tasks are solved by every graph. */
const stuck = (solved: number): World => ({
  rollout: ({ seed }) => ((seed * 37) % 100 < solved ? 1 : 0),
  propose: (request) => proposed(request),
});
const run = (request: Omit<GraphSearchRequest, 'effort'>, effort: GraphSearchRequest['effort'], solved: number) =>
  drive({ ...graphSearch({ ...request, effort }) }, stuck(solved));

const cases = fc.record({
  tasks: fc.integer({ min: 12, max: 300 }),
  rolloutBudget: fc.integer({ min: 60, max: 500 }),
  rngSeed: fc.integer({ min: 0, max: 1_000 }),
});

describe('a graph search in which nothing gains', () => {
  test('spends its budget until another proposal and the evaluation are not covered', () => {
    fc.assert(
      fc.property(cases, fc.constantFrom(0, 30, 60), (request, solved) => {
        const { state, end } = run(request, 'medium', solved);
        expect(end).toMatchObject({ kind: 'done', stoppedBy: 'max_rollouts' });
        const { evaluationSeeds, heldoutSeeds, minibatchSize } = state.config;
        const reserve = evaluationSeeds.length + 2 * heldoutSeeds.length;
        expect(request.rolloutBudget - state.asked).toBeLessThan(reserve + 2 * minibatchSize);
      }),
      { numRuns: pureRuns(20, 100) },
    );
  });

  test('makes no fewer proposals with more effort', () => {
    fc.assert(
      fc.property(cases, fc.constantFrom(0, 30, 60), (request, solved) => {
        const [low, medium, high] = (['low', 'medium', 'high'] as const).map(
          (effort) => run(request, effort, solved).proposals.length,
        );
        expect(medium).toBeGreaterThanOrEqual(low!);
        expect(high).toBeGreaterThanOrEqual(medium!);
      }),
      { numRuns: pureRuns(20, 100) },
    );
  });
});
