import { expect, test } from '@jest/globals';
import { sampleOf, testPaired } from '../../src/core/math/statistics.js';
import { verdictOf } from '../../src/core/search/view.js';
import { splitBounds, splitSeeds } from '../../src/core/search/split.js';
import { tableOf } from './pages.js';

// The tables of docs/own-rows.md say what the code computes.

const page = 'docs/own-rows.md';
const numbersOf = (row: readonly string[]) => row.map((cell) => Number(cell.replace(',', '')));

test('the parts that a file of rows is split into', () => {
  const shown = tableOf(page, 'rows').map(numbersOf);
  const computed = shown.map(([rows = 0, budget = 0]) => {
    const { train, evaluation, heldout } = splitSeeds(rows, 0, splitBounds(budget));
    return [rows, budget, train.length, evaluation.length, heldout.length];
  });
  expect(shown.length).toBeGreaterThan(4);
  expect(shown).toEqual(computed);
});

test('the interval of a gain of 0.2, by held-out rows', () => {
  const shown = tableOf(page, 'held-out rows');
  const computed = shown.map(([rows = '']) => {
    const seeds = Number(rows);
    const part = (from: number, to: number) =>
      Array.from({ length: seeds }, (_, at) => (at >= from && at < to ? 1 : 0));
    const winner = part(0, 0.3 * seeds);
    const baseline = part(0.3 * seeds, 0.4 * seeds);
    const compared = testPaired(winner, baseline);
    const { verdict } = verdictOf(compared, {
      basis: 'heldout',
      baseline: sampleOf(baseline),
      winner: sampleOf(winner),
    });
    return [rows, `${compared.low.toFixed(2)} to ${compared.high.toFixed(2)}`, `\`${verdict}\``];
  });
  expect(shown.length).toBeGreaterThan(4);
  expect(shown).toEqual(computed);
});
