import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { regularizedBeta } from '../../../src/core/math/beta.js';
import { meanInterval, widestInterval } from '../../../src/core/math/mean-interval.js';
import { seedRng, uniformInt, type Rng } from '../../../src/core/math/random.js';
import { sampleOf } from '../../../src/core/math/statistics.js';
import { pureRuns } from '../../support/runs.js';

// Invariants: the interval holds the mean of unseen rows in at least 95 % of samples, of any size
// and kind; it holds the sample's mean, stays in the range, and is never of width 0.

const of = (values: readonly number[]) => meanInterval(sampleOf(values));
const times = (count: number, value: number) => Array<number>(count).fill(value);

test('of 15 equal rows is that of Clopper and Pearson', () => {
  expect(of(times(15, 1))).toEqual({ mean: 1, low: expect.closeTo(0.025 ** (1 / 15), 9), high: 1 });
  expect(of(times(15, 0))).toEqual({ mean: 0, low: 0, high: expect.closeTo(1 - 0.025 ** (1 / 15), 9) });
  // Up to a fifth of unseen rows may have another reward.
  const reach = 1 - 0.025 ** (1 / 15);
  const { low, high } = of(times(15, 0.6));
  expect([low, high]).toEqual([expect.closeTo(0.6 * (1 - reach), 9), expect.closeTo(0.6 + 0.4 * reach, 9)]);
});

test('of right and wrong answers holds the truth in 95 % of samples, by all outcomes', () => {
  for (const count of [1, 2, 5, 15, 40]) {
    const intervals = Array.from({ length: count + 1 }, (_, right) =>
      of([...times(right, 1), ...times(count - right, 0)]),
    );
    for (let share = 0.01; share < 1; share += 0.01) {
      let covered = 0;
      let ways = (1 - share) ** count;
      for (let right = 0; right <= count; right += 1) {
        if (intervals[right]!.low <= share && share <= intervals[right]!.high) covered += ways;
        ways *= ((count - right) / (right + 1)) * (share / (1 - share));
      }
      expect([count, share, covered >= 0.95]).toEqual([count, share, true]);
    }
  }
});

describe('of rewards between 0 and 1 holds the truth in at least 95 % of simulated samples', () => {
  type Draw = (uniform: () => number) => number;
  const kinds: [string, number, Draw][] = [
    ['thirds', 0.5, (uniform) => [0, 0.5, 1][Math.floor(3 * uniform())]!],
    ['uniform', 0.5, (uniform) => uniform()],
    ['narrow', 0.8, (uniform) => 0.75 + 0.1 * uniform()],
    ['a few lost', 0.92, (uniform) => (uniform() < 0.08 ? 0 : 1)],
    ['graded with a few lost', 0.9 * 0.85, (uniform) => (uniform() < 0.1 ? 0 : 0.8 + 0.1 * uniform())],
    ['skewed', 0.25, (uniform) => uniform() ** 3],
    ['equal but for a few', 0.6 * 0.9 + 0.1, (uniform) => (uniform() < 0.1 ? 1 : 0.6)],
  ];

  test.each(kinds)('%s', (_, truth, draw) => {
    let rng: Rng = seedRng(1, 1);
    const uniform = () => {
      const [value, next] = uniformInt(rng, 2 ** 30);
      rng = next;
      return value / 2 ** 30;
    };
    for (const count of [2, 5, 15, 60, 200]) {
      const runs = 1_000;
      let covered = 0;
      for (let run = 0; run < runs; run += 1) {
        const { low, high } = of(Array.from({ length: count }, () => draw(uniform)));
        if (low <= truth && truth <= high) covered += 1;
      }
      // Three standard errors of 1,000 runs below 0.95.
      expect([count, covered / runs >= 0.93]).toEqual([count, true]);
    }
  });
});

test('of a mean alone is that of right and wrong answers', () => {
  for (const [right, wrong] of [
    [0, 1],
    [3, 12],
    [15, 0],
    [60, 40],
  ] as const) {
    const { low, high } = of([...times(right, 1), ...times(wrong, 0)]);
    const widest = widestInterval(right / (right + wrong), right + wrong);
    expect([widest.low, widest.high]).toEqual([expect.closeTo(low, 9), expect.closeTo(high, 9)]);
  }
});

const reward = fc.oneof(fc.constantFrom(0, 0.5, 1), fc.double({ min: 0, max: 1, noNaN: true }));

test('holds its mean within the range, has a width, and does not depend on the order', () => {
  fc.assert(
    fc.property(fc.array(reward, { minLength: 1, maxLength: 40 }), (values) => {
      const { mean, low, high } = of(values);
      expect(0 <= low && low <= mean && mean <= high && high <= 1).toBe(true);
      expect(high - low).toBeGreaterThan(0);
      const reversed = of(values.toReversed());
      expect([reversed.low, reversed.high]).toEqual([expect.closeTo(low, 9), expect.closeTo(high, 9)]);
    }),
    { numRuns: pureRuns(300) },
  );
});

test('takes as the range what the rewards show beyond 0 to 1, and is finite for extremes', () => {
  const { low, high } = of([-2, 3, 1, 0, 2]);
  expect(low).toBeGreaterThan(-2);
  expect(high).toBeLessThan(3);
  for (const value of Object.values(of([1e300, -1e300, 0]))) expect(Number.isFinite(value)).toBe(true);
  for (const value of Object.values(of([1e-300]))) expect(Number.isFinite(value)).toBe(true);
});

test('regularizedBeta is a sum of binomial terms', () => {
  expect(regularizedBeta(0.2, 2, 3)).toBeCloseTo(0.1808, 12);
  expect(regularizedBeta(0.5, 0.5, 0.5)).toBeCloseTo(0.5, 12);
  // At least 100 of 111 with probability 0.9 each.
  expect(regularizedBeta(0.9, 100, 12)).toBeCloseTo(0.5667947281563608, 9);
});
