import { describe, expect, test } from '@jest/globals';
import { comparePaired, studentT95 } from '../../src/core/statistics.js';

describe("the 0.975 quantile of Student's t", () => {
  // Any printed table; the last is the normal distribution's.
  test.each([
    [1, 12.706],
    [2, 4.303],
    [5, 2.571],
    [9, 2.262],
    [10, 2.228],
    [11, 2.201],
    [12, 2.179],
    [15, 2.131],
    [20, 2.086],
    [25, 2.06],
    [30, 2.042],
    [40, 2.021],
    [60, 2.0],
    [120, 1.98],
    [1e9, 1.96],
  ])('of %d degrees of freedom is %d', (freedom, expected) => {
    expect(Math.abs(studentT95(freedom) - expected)).toBeLessThanOrEqual(0.00051);
  });

  test('falls with the degrees of freedom, where the table ends too', () => {
    const all = Array.from({ length: 200 }, (_, place) => studentT95(place + 1));
    expect(all).toEqual([...all].sort((left, right) => right - left));
  });
});

describe('a paired comparison', () => {
  test('is the mean difference and t times its standard error', () => {
    // Differences 1, 2, 3: mean 2, variance 1, standard error 1 / sqrt(3), t of 2 degrees 4.303.
    const { difference, low, high } = comparePaired([2, 4, 6], [1, 2, 3]);
    expect(difference).toBe(2);
    expect(low).toBeCloseTo(2 - 4.303 / Math.sqrt(3), 9);
    expect(high).toBeCloseTo(2 + 4.303 / Math.sqrt(3), 9);
  });

  test('goes by the pairs: what both sides share does not widen it', () => {
    const { low, high } = comparePaired([0.1, 0.5, 0.9], [0, 0.4, 0.8]);
    expect(high - low).toBeLessThan(1e-9);
    expect(low).toBeCloseTo(0.1, 9);
  });

  test('of equal sides is nothing, surely', () => {
    expect(comparePaired([0.5, 1, 0], [0.5, 1, 0])).toEqual({ difference: 0, low: 0, high: 0 });
  });

  test('of one pair is not sure of anything, and can be written as JSON', () => {
    const one = comparePaired([1], [0.25]);
    expect(one).toEqual({ difference: 0.75, low: -Number.MAX_VALUE, high: Number.MAX_VALUE });
    expect(JSON.parse(JSON.stringify(one))).toEqual(one);
  });

  test('changes its sign with the sides', () => {
    const there = comparePaired([1, 0.5, 0.2, 0.9], [0.1, 0.4, 0.8, 0.3]);
    const back = comparePaired([0.1, 0.4, 0.8, 0.3], [1, 0.5, 0.2, 0.9]);
    expect(there.difference).toBeCloseTo(-back.difference, 12);
    expect(there.low).toBeCloseTo(-back.high, 12);
  });
});
