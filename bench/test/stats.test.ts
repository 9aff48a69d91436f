import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mean, median, percentile, slope, spread } from '../stats.js';

const numbers = fc.array(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), { minLength: 1 });

describe('percentile', () => {
  test('uses the nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, n) => 100 - n);
    expect([0, 1, 50, 99, 100].map((p) => percentile(hundred, p))).toEqual([1, 1, 50, 99, 100]);
    expect(percentile([3], 99)).toBe(3);
    expect(percentile([10, 9], 50)).toBe(9);
    expect(() => percentile([], 50)).toThrow(RangeError);
  });

  test('is the smallest value with at least p % of the values at or below it', () => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 100 }), (values, p) => {
        const found = percentile(values, p);
        expect(values).toContain(found);
        expect(values.filter((value) => value <= found).length).toBeGreaterThanOrEqual((p / 100) * values.length);
        expect(values.filter((value) => value < found).length).toBeLessThan((p / 100) * values.length);
      }),
    );
  });

  test('does not modify its input', () => {
    const values = [3, 1, 2];
    percentile(values, 50);
    expect(values).toEqual([3, 1, 2]);
  });
});

test('the median of an even count is the mean of the middle two', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([9, 1, 2])).toBe(2);
  expect(median([7])).toBe(7);
});

test('spread and mean', () => {
  expect(spread([3, 1, 2])).toEqual({ median: 2, least: 1, greatest: 3 });
  expect(mean([1, 2, 6])).toBe(3);
  expect(() => mean([])).toThrow(RangeError);
});

describe('slope', () => {
  test('of a line is exact, of noise as uncertain as it is', () => {
    expect(slope([0, 1, 2, 3].map((x) => [x, 5 - 2 * x]))).toEqual({ perUnit: -2, standardError: 0 });
    // The residuals are 1, -1, -1, 1: variance 4 / 2, over a spread of 5.
    const { perUnit, standardError } = slope([0, 1, 2, 3].map((x, at) => [x, x + [1, -1, -1, 1][at]!]));
    expect(perUnit).toBeCloseTo(1, 12);
    expect(standardError).toBeCloseTo(Math.sqrt(2 / 5), 12);
    expect(() => slope([[0, 0]])).toThrow(RangeError);
  });
});
