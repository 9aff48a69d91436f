import { describe, expect, test } from '@jest/globals';
import { config, drive, proposed, type World } from './driver.js';
import { range } from '../../../support/range.js';

/** Even seeds are solved; the others by candidates from `solver` on. */
const world = (solver: number): World => ({
  rollout: ({ candidate, seed }) => (seed % 2 === 0 || candidate >= solver ? 1 : 0),
  propose: (request) => proposed(request),
});
const seeds = { trainSeeds: range(0, 12), evaluationSeeds: range(20, 4), minibatchSize: 2 };

describe('a child that gains', () => {
  test.each([
    ['an edit of the structure is tested on a seed that its parent solves', 2, 'edit', true],
    ['a rewrite without noise is not', 1, 'rewrite', false],
  ] as const)('%s', (_, solver, kind, isTested) => {
    const search = config({ ...seeds, editsStructure: true, populationSize: 1, generations: solver });
    const { proposals, requests } = drive(search, world(solver));
    expect(proposals.find(({ candidate }) => candidate === solver)).toMatchObject({ kind });
    const tested = requests.filter(({ stage, candidate }) => stage === 'gate' && candidate === solver);
    expect(tested.length).toBeGreaterThan(0);
    expect(tested.some(({ seed }) => seed % 2 === 0)).toBe(isTested);
  });
});
