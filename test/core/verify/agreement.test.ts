import { expect, test } from '@jest/globals';
import { agreement } from '../../../src/core/verify/agreement.js';

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
