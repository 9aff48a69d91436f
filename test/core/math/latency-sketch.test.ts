import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addLatency,
  bucketOf,
  quantiles,
  relativeError,
  type LatencyCounts,
} from '../../../src/core/math/latency-sketch.js';
import { pureRuns } from '../../support/runs.js';

// Invariants: a quantile is within relativeError of the order statistic; the sum of sketches is
// the sketch of all latencies.

function sketchOf(latencies: readonly number[]): LatencyCounts {
  const counts: LatencyCounts = {};
  for (const ms of latencies) addLatency(counts, ms);
  return counts;
}

const latency = fc.oneof(
  fc.double({ min: 0.01, max: 1e8, noNaN: true }),
  // Uniform over the orders of magnitude.
  fc.double({ min: -2, max: 8, noNaN: true }).map((power) => Math.min(1e8, Math.max(0.01, 10 ** power))),
  // Frequent repetitions.
  fc.integer({ min: 1, max: 30 }),
  // At the bounds of buckets.
  fc.integer({ min: -230, max: 920 }).map((bucket) => Math.min(1e8, Math.max(0.01, (1.01 / 0.99) ** bucket))),
);
const quantile = (counts: LatencyCounts, q: number) => quantiles(counts, [q])[0]!;
const part = fc.oneof(fc.constantFrom(0, 0.5, 0.9, 0.95, 0.99, 1), fc.double({ min: 0, max: 1, noNaN: true }));

describe('a quantile', () => {
  test('is within the relative error of the order statistic', () => {
    fc.assert(
      fc.property(fc.array(latency, { minLength: 1, maxLength: 200 }), part, (latencies, q) => {
        const sorted = [...latencies].sort((left, right) => left - right);
        const exact = sorted[Math.max(1, Math.ceil(q * sorted.length)) - 1]!;
        const answered = quantile(sketchOf(latencies), q)!;
        // The bounds of buckets are rounded.
        expect(Math.abs(answered - exact) / exact).toBeLessThanOrEqual(relativeError + 1e-9);
      }),
      { numRuns: pureRuns(2_000) },
    );
  });

  test('is the percentile_disc of SQL: the 10th, 19th and last of 20', () => {
    const counts = sketchOf(Array.from({ length: 20 }, (_, n) => 2 ** n));
    const bucketsOf = [0.5, 0.95, 0.951, 1].map((q) => bucketOf(quantile(counts, q)!));
    expect(bucketsOf).toEqual([2 ** 9, 2 ** 18, 2 ** 19, 2 ** 19].map(bucketOf));
  });

  test('is the same beside others', () => {
    fc.assert(
      fc.property(fc.array(latency, { maxLength: 50 }), fc.array(part), (latencies, parts) => {
        const counts = sketchOf(latencies);
        const ascending = parts.toSorted((left, right) => left - right);
        expect(quantiles(counts, ascending)).toEqual(ascending.map((q) => quantile(counts, q)));
      }),
    );
  });

  test('is null without latencies', () => {
    expect(quantiles({}, [0.5, 1])).toEqual([null, null]);
  });
});

test('the sum of two sketches is the sketch of all latencies, in any order', () => {
  fc.assert(
    fc.property(fc.array(latency), fc.array(latency), part, (left, right, q) => {
      const sum = sketchOf(left);
      for (const [bucket, n] of Object.entries(sketchOf(right))) sum[bucket] = (sum[bucket] ?? 0) + n;
      const both = sketchOf([...right, ...left]);
      expect(sum).toEqual(both);
      expect(quantile(JSON.parse(JSON.stringify(sum)) as LatencyCounts, q)).toBe(quantile(both, q));
    }),
  );
});

test.each([
  [0, 0.01],
  [-5, 0.01],
  [1e-300, 0.01],
  [1e9, 1e8],
  [Infinity, 1e8],
])('%d ms counts as %d', (ms, counted) => {
  expect(bucketOf(ms)).toBe(bucketOf(counted));
  expect(quantile(sketchOf([ms]), 0.5)! / counted - 1).toBeCloseTo(0, 1);
});

test('there are 1,153 buckets', () => {
  expect([bucketOf(0.01), bucketOf(1e8)]).toEqual([-230, 922]);
});
