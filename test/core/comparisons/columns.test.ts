import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareAll, compareWithBaseline, type Column } from '../../../src/core/comparisons/columns.js';
import { comparedRows, countedOf, hasOutcome } from '../../../src/core/comparisons/rows.js';
import { holm } from '../../../src/core/math/holm.js';
import { isShown, pairedVerdictP, testPaired } from '../../../src/core/math/statistics.js';
import { compareBySeed } from '../../../src/core/search/comparison.js';

// Invariants: corrected p-values are at least the p-values, in their order; the interval of a pair
// excludes 0 if its p-value is shown; swapped columns give the negative difference; a further
// column changes no difference; the rows are those that are counted.

const graded = fc.double({ noNaN: true, min: 0, max: 1 });
const binary = fc.constantFrom(0, 1);
const ps = fc.array(graded, { minLength: 1, maxLength: 28 });

describe('holm', () => {
  test('never lowers a p-value, keeps their order, and is at most that of Bonferroni', () => {
    fc.assert(
      fc.property(ps, (values) => {
        const corrected = holm(values);
        for (const [at, p] of values.entries()) {
          expect(corrected[at]!).toBeGreaterThanOrEqual(p);
          expect(corrected[at]!).toBeLessThanOrEqual(Math.min(1, values.length * p));
          for (const [other, q] of values.entries())
            if (p <= q) expect(corrected[at]!).toBeLessThanOrEqual(corrected[other]!);
        }
      }),
    );
  });

  test('is that of the example of Holm', () => {
    expect(holm([0.01, 0.04, 0.03, 0.005])).toEqual([0.03, 0.06, 0.06, 0.02]);
    expect(holm([0.2])).toEqual([0.2]);
    expect(holm([])).toEqual([]);
  });
});

test('the interval of pairs excludes 0 if their p-value is shown', () => {
  const pairs = (value: fc.Arbitrary<number>) => fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(fc.oneof(pairs(binary), pairs(graded), pairs(fc.constantFrom(0, 0.5, 1))), (rows) => {
      const [left, right] = [rows.map(([value]) => value), rows.map(([, value]) => value)];
      const { low, high } = testPaired(left, right);
      const p = pairedVerdictP(left, right);
      expect(p).toBeGreaterThanOrEqual(0);
      expect(p).toBeLessThanOrEqual(1);
      expect(low > 0 || high < 0).toBe(isShown(p));
      expect(pairedVerdictP(right, left)).toBeCloseTo(p, 10);
    }),
  );
});

const cell = fc.constantFrom(0, 0.5, 1, 'failed' as const, null);
const columnOf = (rows: readonly (number | 'failed' | null)[], selected: readonly number[]): Column => {
  const rewards = rows.flatMap((reward, seed) => (typeof reward === 'number' ? [[seed, reward] as const] : []));
  return {
    means: new Map(rewards.map(([seed, reward]) => [seed, { reward, costUsd: null, calls: 0, latencyMs: null }])),
    failed: new Set(rows.flatMap((reward, seed) => (reward === 'failed' ? [seed] : []))),
    isSelected: (seed) => selected.includes(seed),
  };
};
const columns = fc
  .array(
    fc.tuple(fc.array(cell, { minLength: 12, maxLength: 12 }), fc.subarray([...Array(12).keys()], { maxLength: 6 })),
    { minLength: 2, maxLength: 8 },
  )
  .map((all) => all.map(([rows, selected]) => columnOf(rows, selected)));

test('swapped columns give the negative difference and the opposite verdict', () => {
  const opposite = { better: 'worse', worse: 'better', inconclusive: 'inconclusive' };
  fc.assert(
    fc.property(columns, (all) => {
      const last = all.length - 1;
      const back = new Map(compareAll([...all].reverse()).map(({ a, b, pair }) => [`${last - b} ${last - a}`, pair]));
      for (const { a, b, pair } of compareAll(all)) {
        const swapped = back.get(`${a} ${b}`)!;
        if (!pair) expect(swapped).toBeNull();
        else {
          expect(swapped.verdict.difference + 0).toBe(-pair.verdict.difference + 0);
          expect([swapped.won, swapped.lost, swapped.tied]).toEqual([pair.lost, pair.won, pair.tied]);
          expect(swapped.conclusion).toBe(opposite[pair.conclusion]);
        }
      }
    }),
  );
});

test('a further column changes only the correction, and two are a pair', () => {
  fc.assert(
    fc.property(columns, (all) => {
      const [a, b] = [all[0]!, all[1]!];
      const many = compareWithBaseline(all, 0);
      const two = compareWithBaseline([a, b], 0);
      expect(two[1]?.conclusion).toEqual(
        compareBySeed(a.means, b.means, (seed) => a.isSelected(seed) || b.isSelected(seed))?.verdict.verdict,
      );
      expect(many[1] && { ...many[1], corrected: 0, conclusion: '' }).toEqual(
        two[1] && { ...two[1], corrected: 0, conclusion: '' },
      );
      if (many[1]) expect(many[1].corrected).toBeGreaterThanOrEqual(two[1]!.corrected);
    }),
  );
});

test('the rows are those of the counts', () => {
  fc.assert(
    fc.property(columns, fc.nat(), fc.nat({ max: 12 }), (all, any, middle) => {
      const baseline = any % all.length;
      const pairs = compareWithBaseline(all, baseline);
      const rewards = (means: Column['means']) => new Map([...means].map(([seed, { reward }]) => [seed, reward]));
      const known = all.map(({ means, ...column }) => ({ ...column, rewards: rewards(means) }));
      const counted = countedOf(known, baseline);
      const rows = comparedRows(known, baseline, counted);
      const count = (name: 'won' | 'lost' | 'different' | 'failed', at: number | null) =>
        rows.filter((row) => hasOutcome(row, name, at)).length;
      for (const [at, pair] of pairs.entries()) {
        expect([count('won', at), count('lost', at)]).toEqual([pair?.won ?? 0, pair?.lost ?? 0]);
        expect(rows.filter(({ cells }) => cells[at]?.outcome === 'tied').length).toBe(pair?.tied ?? 0);
        expect(count('different', at)).toBe((pair?.won ?? 0) + (pair?.lost ?? 0));
        expect(count('failed', at)).toBe(all[at]!.failed.size);
      }
      expect(rows.map(({ seed }) => seed)).toEqual([...new Set(rows.map(({ seed }) => seed))].sort((x, y) => x - y));
      const partOf = (isIn: (seed: number) => boolean) =>
        known.map((column) => ({
          ...column,
          rewards: new Map([...column.rewards].filter(([seed]) => isIn(seed))),
          failed: new Set([...column.failed].filter(isIn)),
        }));
      const halves = [partOf((seed) => seed < middle), partOf((seed) => seed >= middle)];
      expect(halves.flatMap((half) => comparedRows(half, baseline, counted))).toEqual(rows);
    }),
  );
});
