import { expect, test } from '@jest/globals';
import { histogramOf } from '../../../dashboard/src/pages/evaluation/histogram.js';

const counts = (rewards: number[], bins = 4) => histogramOf(rewards, bins).map(({ count }) => count);

test('each reward is in one bin, and the highest in the last', () => {
  expect(counts([0, 0.2, 0.25, 0.74, 0.75, 1])).toEqual([2, 1, 1, 2]);
  expect(counts([])).toEqual([0, 0, 0, 0]);
});

test('rewards beyond 0 to 1 widen the scale', () => {
  const bins = histogramOf([-1, 0, 3], 4);
  expect(bins.map(({ from, to, count }) => [from, to, count])).toEqual([
    [-1, 0, 1],
    [0, 1, 1],
    [1, 2, 0],
    [2, 3, 1],
  ]);
});
