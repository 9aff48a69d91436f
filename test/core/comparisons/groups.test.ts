import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { groupSearches, requestKey, spreadBetween } from '../../../src/core/comparisons/groups.js';

// Invariants: the seed and the labels of a request change no group, anything else does; a spread
// is of at least three seeds, never negative, 0 of equal searches, and does not depend on the
// baseline.

const policy = { provider: 'local', model: 'local' };
const request = (more: object, outer: object = {}) => ({
  policy_optimization: { algorithm: 'gepa', policy, ...more },
  ...outer,
});

test('requests that differ in seed and labels alone are one', () => {
  const key = requestKey(request({ rng_seed: 1, name: 'a' }, { tags: ['x'] }));
  expect(requestKey(request({ rng_seed: 2, notes: 'n' }, { metadata: { run: 2 } }))).toBe(key);
  expect(requestKey(request({}))).toBe(key);
  expect(requestKey(request({ patience: 3 }))).not.toBe(key);
  // What a container calls so is its own.
  const own = (seed: number) => requestKey(request({ env_config: { rng_seed: seed } }));
  expect(own(1)).not.toBe(own(2));
});

const search = (column: number, rngSeed: number, difference: number, key = 'k') => ({
  column,
  key,
  rngSeed,
  difference,
});
const differences = fc.array(fc.double({ noNaN: true, min: -1, max: 1 }), { minLength: 3, maxLength: 8 });

test('a spread is of at least three seeds', () => {
  expect(groupSearches([search(0, 1, 0), search(1, 1, 0.5)])).toEqual([]);
  expect(groupSearches([search(0, 1, 0), search(1, 2, 0.5), search(2, 1, 0.5)])).toMatchObject([
    { columns: [0, 1, 2], rngSeeds: 2, spread: null },
  ]);
  const [group] = groupSearches([search(0, 1, 0.1), search(1, 2, 0.2), search(3, 3, 0.3), search(2, 4, 9, 'other')]);
  expect(group).toEqual({
    columns: [0, 1, 3],
    rngSeeds: 3,
    difference: expect.closeTo(0.2, 12),
    spread: expect.closeTo(0.1, 12),
  });
  expect(spreadBetween([group!], 0, 2)).toBe(group!.spread);
  expect(spreadBetween([group!], 2, 2)).toBeNull();
});

test('another baseline leaves the spread as it is', () => {
  fc.assert(
    fc.property(differences, fc.double({ noNaN: true, min: -1, max: 1 }), (all, shift) => {
      const spreadOf = (by: number) => groupSearches(all.map((value, at) => search(at, at, value - by)))[0]!.spread!;
      expect(spreadOf(0)).toBeGreaterThanOrEqual(0);
      expect(spreadOf(shift)).toBeCloseTo(spreadOf(0), 9);
      const [equal] = groupSearches(all.map((_, at) => search(at, at, shift)));
      expect(equal!.spread).toBeCloseTo(0, 12);
    }),
  );
});
