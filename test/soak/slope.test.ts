import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { slopeOf } from './slope.js';

test('the slope of a line is its own, without error, at any number of samples', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -500, max: 500 }),
      fc.integer({ min: 0, max: 1_000 }),
      fc.integer({ min: 36, max: 400 }),
      (perHour, start, count) => {
        const slope = slopeOf(Array.from({ length: count }, (_, n) => [n / 6, start + (perHour * n) / 360]));
        expect(slope!.perHour).toBeCloseTo(perHour, 6);
        expect(slope!.error).toBeCloseTo(0, 6);
      },
    ),
  );
});

test('noise around a level is no slope beyond three errors, and a leak in it is one', () => {
  const noise = (n: number) => 20 * Math.sin(n * n);
  const level = slopeOf(Array.from({ length: 360 }, (_, n) => [n / 6, 200 + noise(n)]))!;
  expect(Math.abs(level.perHour)).toBeLessThan(3 * level.error);
  const leak = slopeOf(Array.from({ length: 360 }, (_, n) => [n / 6, 200 + n / 6 + noise(n)]))!;
  expect(leak.perHour).toBeGreaterThan(3 * leak.error);
});

test('fewer than three samples have no slope', () => {
  expect(slopeOf([])).toBeNull();
  expect(slopeOf([[0, 1], [1, 2]])).toBeNull(); // prettier-ignore
});
