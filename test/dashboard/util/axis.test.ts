import { expect, test } from '@jest/globals';
import { labelWidth, rewardRange } from '../../../dashboard/src/util/axis.js';

test.each([
  [0, 0, 0, 1],
  [0.2, 0.7, 0, 1],
  [1, 1, 0, 1],
  [null, null, 0, 1],
  [-1, 0.5, -1.1, 1],
  [0, 19, 0, 19.95],
])('rewards from %p to %p have an axis from %p to %p', (low, high, from, to) => {
  const range = rewardRange(low, high);
  expect(range.map((end) => +end.toFixed(6))).toEqual([from, +to.toFixed(6)]);
});

test('an axis is as wide as its longest label', () => {
  expect(labelWidth(['100.000', '0.000'])).toBeGreaterThan(labelWidth(['0.000']));
  expect(labelWidth(null)).toBeGreaterThan(0);
});
