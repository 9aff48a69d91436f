import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { exceeds, mean, normalizeReward, sum } from '../../../src/core/math/rewards.js';
import { seedRng, shuffle } from '../../../src/core/math/random.js';

// Sums of multiples of 2^-20 below 2^20 are exact in integers.
const grid = fc.integer({ min: -(2 ** 40), max: 2 ** 40 }).map((steps) => steps / 2 ** 20);

describe('sum', () => {
  test('is exact where floating-point addition is not', () => {
    expect(sum(Array.from({ length: 10 }, () => 0.1))).toBe(1);
    expect(sum([1e16, 1, -1e16])).toBe(1);
    expect(sum([1, 1e100, 1, -1e100])).toBe(2);
    // The smallest value breaks the tie of the last rounding.
    expect(sum([1e16, 1, 1e-16])).toBe(1e16 + 2);
    expect(sum([1e16, 1])).toBe(1e16);
    expect(sum([])).toBe(0);
  });

  test('equals the sum in integers', () => {
    fc.assert(
      fc.property(fc.array(grid, { maxLength: 200 }), (values) => {
        const steps = values.reduce((total, value) => total + BigInt(value * 2 ** 20), 0n);
        expect(sum(values)).toBe(Number(steps) / 2 ** 20);
      }),
    );
  });

  test('does not depend on the order', () => {
    const values = fc.array(fc.double({ noNaN: true, min: -1e300, max: 1e300 }), { maxLength: 100 });
    fc.assert(
      fc.property(values, fc.integer(), (list, seed) => {
        expect(sum(shuffle(seedRng(seed), list)[0])).toBe(sum(list));
      }),
    );
  });

  test('is never -0', () => {
    expect(sum([-0, -0])).toBe(0);
  });
});

describe('mean', () => {
  test('is null without values', () => {
    expect(mean([])).toBeNull();
    expect(mean([0.25, 0.75, 0.5])).toBe(0.5);
  });

  test('of equal values is that value', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), fc.integer({ min: 1, max: 300 }), (value, count) => {
        expect(mean(Array.from({ length: count }, () => value))).toBe(value + 0);
      }),
    );
  });

  test('adds the exact rest of the division', () => {
    const scale = 2n ** 200n;
    const exactly = (value: number) => {
      let shift = 0;
      for (let rest = value; !Number.isInteger(rest); rest *= 2) shift += 1;
      return (BigInt(value * 2 ** shift) * scale) / 2n ** BigInt(shift);
    };
    const decimals = fc.integer({ min: 0, max: 1_000 }).map((thousandths) => thousandths / 1_000);
    fc.assert(
      fc.property(fc.array(fc.oneof(grid, decimals), { minLength: 1, maxLength: 100 }), (values) => {
        const rough = sum(values) / values.length;
        const rest = values.reduce((total, value) => total + exactly(value) - exactly(rough), 0n);
        expect(mean(values)).toBe(rough + Number(rest) / Number(scale) / values.length + 0);
      }),
    );
  });

  test('of huge rewards is finite', () => {
    expect(mean([1.5e308, 1.5e308, -1.5e308])).toBeLessThan(Infinity);
  });
});

test('normalized rewards are never -0 and can be summed', () => {
  expect(Object.is(normalizeReward(-0), 0)).toBe(true);
  expect(normalizeReward(0.3)).toBe(0.3);
  expect(sum(Array.from({ length: 10_000 }, () => normalizeReward(1.7e308)))).toBeLessThan(Infinity);
  expect(sum(Array.from({ length: 10_000 }, () => normalizeReward(-1.7e308)))).toBeGreaterThan(-Infinity);
});

test('exceeds ignores rounding differences only', () => {
  expect(exceeds(0.7 + 0.2 + 0.1, 0.5 + 0.3 + 0.2)).toBe(false);
  expect(exceeds(0.1 + 0.2, 0.3)).toBe(false);
  expect(exceeds(1, 1)).toBe(false);
  expect(exceeds(0.501, 0.5)).toBe(true);
  expect(exceeds(0.5, 0.501)).toBe(false);
  expect(exceeds(0, -1e-300)).toBe(true);
  expect(exceeds(1e-9, 0)).toBe(true);
});
