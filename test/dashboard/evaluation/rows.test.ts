import { describe, expect, test } from '@jest/globals';
import { chooseRows, rowsOf, type Filter, type Sort } from '../../../dashboard/src/pages/evaluation/rows.js';
import type { Result } from '../../../dashboard/src/data/evaluation/types.js';

const result = (seed: number, reward: number | null, latency_ms: number | null = null, cost_usd = 0) =>
  ({
    seed,
    reward,
    latency_ms,
    cost_usd,
    status: reward === null ? 'failed' : 'succeeded',
    trace_id: `rol_${seed}`,
  }) as Result;

const columns = [
  { results: [result(5, 1, 10), result(2, 0.2, 30), result(9, null, null)] },
  { results: [result(2, 0.9, 5, 0.1), result(5, 1, 99), result(7, 0.6, 1)] },
];
const rows = rowsOf(columns);
const seeds = (filter: Filter, sort: Sort) => chooseRows(rows, filter, sort).map(({ seed }) => seed);

describe('rows of the matrix', () => {
  test('the first column sets the order, others add their seeds, and results stand by seed', () => {
    expect(rows.map(({ seed, cells }) => [seed, ...cells.map((cell) => cell?.reward)])).toEqual([
      [5, 1, 1],
      [2, 0.2, 0.9],
      [9, null, undefined],
      [7, undefined, 0.6],
    ]);
  });

  test.each<[Filter, number[]]>([
    ['all', [5, 2, 9, 7]],
    ['failed', [9]],
    ['low', [2]],
    ['differ', [2]],
  ])('the filter %s', (filter, expected) => {
    expect(seeds(filter, 'row')).toEqual(expected);
  });

  test.each<[Sort, number[]]>([
    ['reward', [2, 7, 5, 9]],
    ['latency', [5, 2, 7, 9]],
    ['cost', [2, 5, 9, 7]],
    ['difference', [2, 5, 9, 7]],
  ])('the order by %s; equal rows keep theirs', (sort, expected) => {
    expect(seeds('all', sort)).toEqual(expected);
  });
});
