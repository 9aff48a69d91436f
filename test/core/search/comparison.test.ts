import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { largestReward } from '../../../src/core/math/rewards.js';
import { compareBySeed, sideOf, type SeedMeans } from '../../../src/core/search/comparison.js';

// Invariants: each common seed is won, lost or tied; swapped sides give the negative difference;
// equal sides tie on every seed; seeds that a search selected on count only if there are no others.

const on = (reward: number, more: Partial<SeedMeans> = {}): SeedMeans => {
  return { reward, costUsd: null, calls: 0, latencyMs: null, ...more };
};
const side = (rewards: readonly number[], from = 0) =>
  new Map(rewards.map((reward, index) => [from + index, on(reward)]));
const none = () => false;

/** As they are read: clamped. */
const reward = fc.double({ noNaN: true, min: -largestReward, max: largestReward });

const sides = fc.array(
  fc.record({
    seed: fc.integer({ min: 0, max: 1_000 }),
    a: fc.option(reward),
    b: fc.option(reward),
  }),
  { maxLength: 30 },
);
const meansOf = (rows: readonly { seed: number; a: number | null; b: number | null }[], name: 'a' | 'b') =>
  new Map(rows.flatMap((row) => (row[name] === null ? [] : [[row.seed, on(row[name])]])));

test('swapped sides: the negative difference, and the opposite verdict', () => {
  fc.assert(
    fc.property(sides, fc.func(fc.boolean()), (rows, isSelected) => {
      const [a, b] = [meansOf(rows, 'a'), meansOf(rows, 'b')];
      const forth = compareBySeed(a, b, isSelected);
      const back = compareBySeed(b, a, isSelected);
      if (!forth || !back) return expect([forth, back]).toEqual([null, null]);
      const [of, swapped] = [forth.verdict, back.verdict];
      expect([swapped.difference + 0, swapped.low + 0, swapped.high + 0]).toEqual(
        [-of.difference, -of.high, -of.low].map((value) => value + 0),
      );
      expect([back.won, back.lost, back.tied]).toEqual([forth.lost, forth.won, forth.tied]);
      expect(forth.won + forth.lost + forth.tied).toBe(of.seeds);
      expect([back.seeds.toSorted(), swapped.basis]).toEqual([forth.seeds.toSorted(), of.basis]);
      const opposite = { better: 'worse', worse: 'better', inconclusive: 'inconclusive' };
      expect(swapped.verdict).toBe(opposite[of.verdict]);
    }),
  );
});

test('equal sides tie on every seed', () => {
  fc.assert(
    fc.property(fc.array(reward, { minLength: 2, maxLength: 30 }), (rewards) => {
      expect(compareBySeed(side(rewards), side(rewards), none)).toMatchObject({
        won: 0,
        lost: 0,
        tied: rewards.length,
        verdict: { verdict: 'inconclusive', difference: 0 },
      });
    }),
  );
});

describe('compareBySeed', () => {
  test('pairs the common seeds only', () => {
    // Common are the seeds 2 to 4; the differences are 1, 0 and 0.5.
    const a = side([9, 9, 0, 0.5, 0.5]);
    const compared = compareBySeed(a, side([1, 0.5, 1, 9], 2), none)!;
    expect(compared).toMatchObject({ seeds: [2, 3, 4], won: 2, lost: 0, tied: 1 });
    expect(sideOf(a, compared.seeds).reward).toBe(1 / 3);
    const { verdict, difference, low, high, seeds } = compared.verdict;
    expect([verdict, difference, seeds]).toEqual(['inconclusive', 0.5, 3]);
    // 4.303 * 0.5 / sqrt(3)
    expect([low, high]).toEqual([expect.closeTo(-0.7422, 4), 1]);
  });

  test('one seed has an interval of all that is possible, no common seed no comparison', () => {
    const { verdict, low, high } = compareBySeed(side([0]), side([1]), none)!.verdict;
    expect([verdict, low, high]).toEqual(['inconclusive', -1, 1]);
    expect(compareBySeed(side([0]), side([1], 1), none)).toBeNull();
  });

  test.each([
    ['two seeds that no search selected on are enough', [3, 4], 'heldout', 2],
    ['with one of them, all common seeds count', [4], 'evaluation', 5],
    ['without any, all common seeds count', [], 'evaluation', 5],
    ['of seeds that no search selected on, all count', [0, 1, 2, 3, 4], 'heldout', 5],
  ] as const)('%s', (_, unselected, basis, seeds) => {
    const isSelected = (seed: number) => !(unselected as readonly number[]).includes(seed);
    const compared = compareBySeed(side([0, 0, 0, 0, 0]), side([1, 1, 1, 1, 1]), isSelected)!;
    expect(compared.verdict).toMatchObject({
      basis,
      seeds,
      verdict: seeds > 3 ? 'better' : 'inconclusive',
    });
    expect(compared.won).toBe(seeds);
  });

  test('cost and latency are means over seeds; an unknown cost is null', () => {
    const known = [
      on(1, { costUsd: 0.2, calls: 3, latencyMs: 10 }),
      on(1, { costUsd: 0, calls: 0, latencyMs: 40 }),
      on(1, { costUsd: 0.1, calls: 1, latencyMs: null }),
    ];
    const costOf = (seeds: readonly SeedMeans[]) => sideOf(new Map(seeds.entries()), [...seeds.keys()]);
    expect(costOf(known).costUsd).toBeCloseTo(0.1, 12);
    expect(costOf(known).latencyMs).toEqual({ mean: 25, p50: 10 });
    expect(costOf([...known, on(1, { calls: 2 })]).costUsd).toBeNull();
    // No recorded call: the model is not called, or past the proxy.
    expect(costOf([on(1, { costUsd: 0 })])).toMatchObject({ costUsd: null, latencyMs: null });
  });
});
