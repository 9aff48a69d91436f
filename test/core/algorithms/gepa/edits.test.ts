import { describe, expect, test } from '@jest/globals';
import { config, drive, proposed, type World } from './driver.js';
import { range } from '../../../support/range.js';

/** Even seeds are solved; the others by candidates from `solver` on. A child costs `cost`. */
const world = (solver: number, cost: number): World => ({
  rollout: ({ candidate, seed }) => (seed % 2 === 0 || candidate >= solver ? 1 : 0),
  cost: ({ candidate }) => (candidate === 0 ? 1 : cost),
  propose: (request) => proposed(request),
});
const seeds = { trainSeeds: range(0, 12), evaluationSeeds: range(20, 4), minibatchSize: 2 };

describe('a child that gains', () => {
  test.each([
    ['an edit of a graph is tested on a seed that its parent solves', 2, 'edit', true],
    ['a rewrite in a graph too', 1, 'rewrite', true],
    ['a rewrite of prompts alone without noise is not', 1, 'rewrite', false],
  ] as const)('%s', (_, solver, kind, isTested) => {
    const editsStructure = isTested;
    const search = config({ ...seeds, editsStructure, populationSize: 1, generations: solver });
    const { proposals, requests } = drive(search, world(solver, 2));
    expect(proposals.find(({ candidate }) => candidate === solver)).toMatchObject({ kind });
    const tested = requests.filter(({ stage, candidate }) => stage === 'gate' && candidate === solver);
    expect(tested.length).toBeGreaterThan(0);
    expect(tested.some(({ seed }) => seed % 2 === 0)).toBe(isTested);
  });
});

describe('a failure that a rejected rewrite was shown', () => {
  test.each([
    ['is shown to an edit of the structure, not as an earlier question', true, undefined],
    ['is shown to another rewrite as an earlier question, if prompts alone are rewritten', false, 'revise'],
  ])('%s', (_, editsStructure, approach) => {
    const limits = { populationSize: 1, generations: 30, maxRollouts: 60 };
    const { proposals, requests } = drive(config({ ...seeds, ...limits, editsStructure }), world(99, 2));
    const [first, second, third] = proposals.slice(0, 3).map(({ ordinals, pick }) => ordinals.slice(0, pick!.size));
    expect(first).toEqual(expect.arrayContaining(second!));
    expect(proposals[1]!.approach).toBe(approach);
    const isAskedAgain = third!.some((ordinal) => first!.includes(ordinal));
    expect(isAskedAgain).toBe(!editsStructure);
    const explored = requests.filter(({ stage, generation }) => stage === 'minibatch' && generation === 2);
    expect(explored).toEqual([]);
  });
});
