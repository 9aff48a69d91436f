import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { agreement, countByFolds, fitThreshold } from '../../../src/core/verify/agreement.js';

/** Outputs by number: both good, judge only, label only, neither. */
const table = (both: number, judge: number, label: number, neither: number) =>
  agreement({ n: both + judge + label + neither, judged: both + judge, labelled: both + label, bothGood: both });

test('accuracy and kappa of a known table', () => {
  // 20 + 15 of 50 agree; chance: 0.5 · 0.6 + 0.5 · 0.4 = 0.5.
  const result = table(20, 5, 10, 15);
  expect(result).toMatchObject({ n: 50, accuracy: 0.7 });
  expect(result.kappa).toBeCloseTo(0.4, 12);
  expect(result.betterThanChance).toBe(true);
});

test("Fisher's tea tasting: 3 of 4 right is no evidence, 4 of 4 is", () => {
  expect(table(3, 1, 1, 3).pValue).toBeCloseTo(17 / 70, 12);
  expect(table(3, 1, 1, 3).betterThanChance).toBe(false);
  expect(table(4, 0, 0, 4).pValue).toBeCloseTo(1 / 70, 12);
  expect(table(4, 0, 0, 4)).toMatchObject({ accuracy: 1, kappa: 1, betterThanChance: true });
});

test('a judge that always says the same is no better than chance, however accurate', () => {
  expect(table(95, 5, 0, 0)).toMatchObject({ accuracy: 0.95, kappa: 0, betterThanChance: false });
  expect(table(95, 5, 0, 0).pValue).toBeCloseTo(1, 12);
});

test('a judge that says the opposite has a negative kappa', () => {
  expect(table(0, 10, 10, 0)).toMatchObject({ accuracy: 0, kappa: -1, betterThanChance: false });
});

test('without labels, or without variety, there is no kappa', () => {
  expect(table(0, 0, 0, 0)).toEqual({ n: 0, accuracy: null, kappa: null, pValue: 1, betterThanChance: false });
  expect(table(7, 0, 0, 0)).toMatchObject({ accuracy: 1, kappa: null, betterThanChance: false });
});

test('many labels neither overflow nor take long', () => {
  const result = table(3_000, 2_000, 2_000, 3_000);
  expect(result.kappa).toBeCloseTo(0.2, 12);
  expect(result.pValue).toBeLessThan(1e-50);
});

describe('the threshold of a judge', () => {
  const cell = (fold: number, judge: number, isGood: boolean, outputs = 1) => ({ fold, judge, isGood, outputs });

  test('is fitted on the labels, and 0.5 where they do not say otherwise', () => {
    expect(fitThreshold([])).toBe(0.5);
    expect(fitThreshold([cell(0, 0, false), cell(0, 1, true)])).toBe(0.5);
    // A lenient judge: bad outputs still get 0.6.
    expect(fitThreshold([cell(0, 0.6, false, 9), cell(0, 0.9, true, 9), cell(1, 0.9, false)])).toBeCloseTo(0.75, 12);
  });

  test('is that of the other folds where agreement is counted', () => {
    const lenient = [0, 1, 2, 3, 4].flatMap((fold) => [cell(fold, 0.6, false, 2), cell(fold, 0.9, true, 3)]);
    expect(countByFolds(lenient)).toEqual({ n: 25, judged: 15, labelled: 15, bothGood: 15 });
    // Only the last fold says that 0.6 is bad: the others know nothing of it.
    const alone = [0, 1, 2, 3].flatMap((fold) => [cell(fold, 0.9, true, 2), cell(fold, 0.1, false)]);
    const { n, judged } = countByFolds([...alone, cell(4, 0.6, false, 2)]);
    expect([n, judged]).toEqual([14, 10]);
  });

  test('finds no agreement in labels by chance', () => {
    // Any threshold fits some of these labels, none those of another fold.
    const chance = fc.array(fc.tuple(fc.integer({ min: 0, max: 10 }), fc.boolean()), { minLength: 40, maxLength: 40 });
    let found = 0;
    fc.assert(
      fc.property(chance, (outputs) => {
        const cells = outputs.map(([score, isGood], at) => cell(at % 5, score / 10, isGood));
        found += agreement(countByFolds(cells)).betterThanChance ? 1 : 0;
      }),
      { numRuns: 400, seed: 1 },
    );
    expect(found / 400).toBeLessThan(0.08);
  });
});
