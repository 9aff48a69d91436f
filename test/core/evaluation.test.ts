import { expect, test } from '@jest/globals';
import { evaluationRequests, summarize } from '../../src/core/evaluation.js';

test('a seed is asked for as often as it is listed, in the order listed', () => {
  const requests = evaluationRequests([7, 3, 7]);
  expect(requests.map(({ ordinal, seed }) => [ordinal, seed])).toEqual([
    [0, 7],
    [1, 3],
    [2, 7],
  ]);
});

test('a chunk keeps the ordinals of the whole', () => {
  const seeds = [5, 6, 7, 8, 9];
  expect([...evaluationRequests(seeds, 0, 2), ...evaluationRequests(seeds, 2, 9)]).toEqual(evaluationRequests(seeds));
});

test('the mean is over what succeeded', () => {
  expect(summarize(4, [1, null, 0.5])).toEqual({ numSeeds: 4, numSuccessful: 2, numFailed: 1, meanReward: 0.75 });
  expect(summarize(2, [null, null])).toEqual({ numSeeds: 2, numSuccessful: 0, numFailed: 2, meanReward: null });
});
