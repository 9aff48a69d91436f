import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { seedsSchema } from '../../src/contracts/seeds.js';

const max = 5;
const schema = z.strictObject({ seeds: seedsSchema(max), others: seedsSchema(max).optional() });
const read = (seeds: unknown) => schema.parse({ seeds }).seeds;
const problemsOf = (seeds: unknown) =>
  (schema.safeParse({ seeds }).error?.issues ?? []).map(({ path }) => path.join('/'));
const most = 1e15;

test.each<[unknown, number[]]>([
  [[0], [0]],
  [
    [5, 5, 3],
    [5, 5, 3],
  ],
  [[most], [most]],
  ['0-4', [0, 1, 2, 3, 4]],
  ['7-7', [7]],
  [`${most - 1}-${most}`, [most - 1, most]],
  [{ from: 2, to: 4 }, [2, 3, 4]],
  [{ from: 0, to: 0 }, [0]],
])('%j', (given, seeds) => {
  expect(read(given)).toEqual(seeds);
});

describe('refuses', () => {
  test.each<[unknown, string[]]>([
    [undefined, ['seeds']],
    [null, ['seeds']],
    [[], ['seeds']],
    [[1, 2, 3, 4, 5, 6], ['seeds']],
    [[0, -1], ['seeds/1']],
    [[0.5], ['seeds/0']],
    [['1'], ['seeds/0']],
    [[most + 1], ['seeds/0']],
    [[null], ['seeds/0']],
    [3, ['seeds']],
    ['3', ['seeds']],
    ['', ['seeds']],
    ['-', ['seeds']],
    ['-1-2', ['seeds']],
    ['0-1-2', ['seeds']],
    ['0-1.5', ['seeds']],
    ['0-4,9', ['seeds']],
    ['1e1-2e1', ['seeds']],
    ['0-4\n', ['seeds']],
    ['4-0', ['seeds']],
    ['0-5', ['seeds']],
    [`0-${most}`, ['seeds']],
    [`${most + 1}-${most + 1}`, ['seeds']],
    [`${'9'.repeat(400)}-${'9'.repeat(400)}`, ['seeds']],
    [{}, ['seeds/from', 'seeds/to']],
    [{ from: 0 }, ['seeds/to']],
    [{ from: 0, to: '4' }, ['seeds/to']],
    [{ from: -1, to: 4 }, ['seeds/from']],
    [{ from: 0, to: 0.5 }, ['seeds/to']],
    [{ from: 4, to: 0 }, ['seeds']],
    [{ from: 0, to: most }, ['seeds']],
    [{ from: 0, to: 4, step: 2 }, ['seeds/step']],
    [{ 0: 1, length: 1 }, ['seeds/from', 'seeds/to', 'seeds/0', 'seeds/length']],
  ])('%j', (given, paths) => {
    expect(problemsOf(given)).toEqual(paths);
  });
});

test('both ways to write a range are the same, and optional seeds stay absent', () => {
  fc.assert(
    fc.property(fc.nat(most - max), fc.nat(max - 1), (from, more) => {
      const to = from + more;
      expect(read(`${from}-${to}`)).toEqual(read({ from, to }));
      expect(read({ from, to })).toHaveLength(more + 1);
    }),
  );
  expect(schema.parse({ seeds: [1] })).toEqual({ seeds: [1] });
});
