import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { matchMoved, matchRows } from '../../../src/core/prompts/match.js';
import { pureRuns } from '../../support/runs.js';

const rows = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 14 });

/** The length of a longest common subsequence, by definition. */
function longest(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  const [[x, ...as], [y, ...bs]] = [a as [string], b as [string]];
  return x === y ? 1 + longest(as, bs) : Math.max(longest(as, b), longest(a, bs));
}

function expectPairs(a: readonly string[], b: readonly string[], partner: readonly number[]): number[] {
  expect(partner).toHaveLength(b.length);
  const paired = partner.filter((index) => index >= 0);
  expect(partner.filter((match, index) => match >= 0 && a[match] !== b[index])).toEqual([]);
  expect(new Set(paired).size).toBe(paired.length);
  return paired;
}

describe('matchRows', () => {
  test('matches as many equal elements in order as possible', () => {
    const short = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 });
    fc.assert(
      fc.property(short, short, (a, b) => {
        const paired = expectPairs(a, b, matchRows(a, b));
        expect(paired).toEqual([...paired].sort((left, two) => left - two));
        expect(paired).toHaveLength(longest(a, b));
      }),
    );
  });

  test('matchMoved matches as many of each element as both have', () => {
    fc.assert(
      fc.property(rows, rows, (a, b) => {
        const paired = expectPairs(a, b, matchMoved(a, b));
        const count = (row: string[], text: string) => row.filter((left) => left === text).length;
        const both = ['a', 'b', 'c', 'd'].map((text) => Math.min(count(a, text), count(b, text)));
        expect(paired).toHaveLength(both.reduce((sum, n) => sum + n));
      }),
    );
  });

  test('matches long rows in order along unique elements', () => {
    const numbers = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 900, maxLength: 1_200 });
    const letters = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 900, maxLength: 1_200 });
    fc.assert(
      fc.property(fc.oneof(numbers, letters), fc.integer({ min: 1, max: 1_000 }), (list, at) => {
        const a = list.map(String);
        const b = [...a.slice(at), 'new', ...a.slice(0, at).reverse(), ...a.slice(0, 700)];
        const paired = expectPairs(a, b, matchRows(a, b));
        expect(paired).toEqual([...paired].sort((left, two) => left - two));
        expect(paired.length).toBeGreaterThan(0);
      }),
      { numRuns: pureRuns(20) },
    );
    const long = Array.from({ length: 3_000 }, (_, i) => `line ${i}`);
    const changed = long.map((line, i) => (i % 100 === 50 ? 'changed' : line));
    expect(matchRows(long, changed).filter((index) => index < 0)).toHaveLength(30);
  });
});
