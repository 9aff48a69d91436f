import { expect, test } from '@jest/globals';
import { accuracyOf } from '../estimates.js';

test('the accuracy of estimates is their mean error and the share of intervals with the truth', () => {
  const estimates = [
    { mean: 0.5, low: 0.4, high: 0.6, truth: 0.6 },
    { mean: 0.5, low: 0.4, high: 0.6, truth: 0.3 },
  ];
  const { bias, covered } = accuracyOf(estimates);
  expect(bias).toBeCloseTo(0.05, 12);
  expect(covered).toBe(0.5);
  expect(accuracyOf([])).toEqual({ bias: 0, covered: 0 });
});
