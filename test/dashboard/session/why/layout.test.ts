import { expect, test } from '@jest/globals';
import {
  lineageOf,
  ancestorsOf,
  neighborOf,
  type Descendant,
} from '../../../../dashboard/src/pages/session/why/lineage/layout.js';

const candidate = (number: number, generation: number, parents: number[]): Descendant => ({
  candidate_id: `c_${number}`,
  parent_ids: parents.map((parent) => `c_${parent}`),
  generation,
  lever_version: number,
});

/** 3 combines 1, of its own generation, with the baseline; 4 and 5 derive from 3 and 2. */
const small = [
  candidate(0, 0, []),
  candidate(1, 1, [0]),
  candidate(2, 1, [0]),
  candidate(3, 1, [1, 0]),
  candidate(4, 2, [3]),
  candidate(5, 2, [2]),
];

test('every edge leads to a later column, also within a generation', () => {
  const { placed, columns, edges } = lineageOf(small.toReversed());
  expect(columns).toEqual([
    { generation: 0, ids: ['c_0'] },
    { generation: 1, ids: ['c_1', 'c_2'] },
    { generation: 1, ids: ['c_3'] },
    { generation: 2, ids: ['c_4', 'c_5'] },
  ]);
  expect(edges).toHaveLength(6);
  for (const [parent, child] of edges) expect(placed.get(parent)!.column).toBeLessThan(placed.get(child)!.column);
});

test('children are near their parents, and short columns in the middle', () => {
  const { placed, rows } = lineageOf([...small.slice(0, 3), candidate(3, 2, [2]), candidate(4, 2, [1])]);
  expect(rows).toBe(2);
  expect(['c_0', 'c_1', 'c_2', 'c_3', 'c_4'].map((id) => placed.get(id)!.row)).toEqual([0.5, 0, 1, 1, 0]);
});

test('a wide generation goes on in the next column; unknown parents are left out', () => {
  const wide = Array.from({ length: 499 }, (_, n) => candidate(n + 1, 1, [0, 9_999]));
  const { placed, columns, edges, rows } = lineageOf([candidate(0, 0, []), ...wide]);
  expect([placed.size, edges.length, columns.length, rows]).toEqual([500, 499, 17, 32]);
  const places = new Set([...placed.values()].map(({ column, row }) => `${column} ${row}`));
  expect(places.size).toBe(500);
});

test('the line of a candidate has all its ancestors', () => {
  expect([...ancestorsOf(small, 'c_4')].toSorted()).toEqual(['c_0', 'c_1', 'c_3', 'c_4']);
  expect(ancestorsOf(small, null).size).toBe(0);
});

test('keys lead along the edges and within a column', () => {
  const lineage = lineageOf(small);
  const keys = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'a'];
  expect(keys.map((key) => neighborOf(lineage, 'c_2', key))).toEqual([
    'c_0',
    'c_5',
    'c_1',
    undefined,
    'c_0',
    'c_5',
    undefined,
  ]);
});
