import { describe, expect, test } from '@jest/globals';
import { choosePairs, pairsOf, rowsOfResults, type SideRow } from '../../../dashboard/src/pages/compare/rows.js';

const side = (seed: number, reward: number | null, traceId = `rol_${seed}`): SideRow => ({
  seed,
  reward,
  traceId,
  texts: null,
});

describe('rows of a side', () => {
  test('a seed has the mean of its succeeded results and the trace of the last', () => {
    const rows = rowsOfResults([
      side(1, 0.5, 'rol_a'),
      side(2, null, 'rol_b'),
      side(1, 1, 'rol_c'),
      side(1, null, 'rol_d'),
    ]);
    expect(rows).toEqual([side(1, 0.75, 'rol_d'), side(2, null, 'rol_b')]);
  });
});

describe('pairs of two sides', () => {
  const a = [side(1, 0), side(2, 1), side(3, 0.5), side(4, null), side(5, 1)];
  const b = [side(5, 1), side(3, 1), side(2, 0.2), side(1, 1), side(4, 1), side(6, 1)];

  test('are the compared seeds, no others', () => {
    expect(pairsOf(a, b, [1, 2, 5]).map(({ seed }) => seed)).toEqual([1, 2, 5]);
  });

  test('a difference by rounding is none', () => {
    expect(pairsOf([side(1, 0.3)], [side(1, 0.1 + 0.2)], [1])[0]!.outcome).toBe('tied');
  });

  test('losses or gains of b come first; an outcome alone', () => {
    const pairs = pairsOf(a, b, [1, 2, 3, 5]);
    const chosen = (...[outcome, order]: [Parameters<typeof choosePairs>[1], Parameters<typeof choosePairs>[2]]) =>
      choosePairs(pairs, outcome, order).map(({ seed }) => seed);
    expect(chosen('all', 'lost')).toEqual([2, 5, 3, 1]);
    expect(chosen('all', 'won')).toEqual([1, 3, 5, 2]);
    expect(chosen('all', 'row')).toEqual([1, 2, 3, 5]);
    expect([chosen('won', 'lost'), chosen('lost', 'lost'), chosen('tied', 'lost')]).toEqual([[3, 1], [2], [5]]);
  });
});
