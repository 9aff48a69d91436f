import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nextUint32, seedRng, shuffle, uniformInt, weightedPick, type Rng } from '../../../src/core/math/random.js';
import { pureRuns } from '../../support/runs.js';

function take<T>(count: number, rng: Rng, draw: (rng: Rng) => [T, Rng]): T[] {
  const values: T[] = [];
  let next = rng;
  for (let i = 0; i < count; i++) {
    const [value, after] = draw(next);
    values.push(value);
    next = after;
  }
  return values;
}

describe('sfc32', () => {
  // Expected values of an independent implementation of the published algorithm.
  test.each<[Rng, number[]]>([
    [
      [0, 0, 0, 1],
      [1, 2, 12, 18874399, 56669315],
    ],
    [
      [1, 2, 3, 1],
      [4, 31, 56623170, 132259135, 3317874561],
    ],
  ])('state %j', (state, expected) => {
    expect(take(5, state, nextUint32)).toEqual(expected);
  });

  test.each([
    [0, [1035559467, 1529626647, 2545227308]],
    [1, [125657119, 2118268988, 2189418013]],
    [-1, [4218376638, 3611392708, 1768889995]],
    [2 ** 40 + 7, [4058335331, 3581240603, 4216105337]],
  ])('seed %d', (seed, expected) => {
    expect(take(3, seedRng(seed), nextUint32)).toEqual(expected);
  });
});

describe('seeds', () => {
  test('0, negative and larger than 32 bits give distinct states', () => {
    const seeds = [0, 1, -1, 2 ** 32, -(2 ** 32), 2 ** 32 + 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
    expect(new Set(seeds.map((seed) => seedRng(seed).join())).size).toBe(seeds.length);
    expect(seedRng(0)).toEqual(seedRng(-0));
  });

  test('streams of one seed differ', () => {
    expect(take(8, seedRng(5, 0), nextUint32)).not.toEqual(take(8, seedRng(5, 1), nextUint32));
  });

  test.each([0.5, NaN, Infinity, 2 ** 53])('rejects %d', (seed) => {
    expect(() => seedRng(seed)).toThrow(/rng seed .* is not usable/);
  });

  test('the state is plain JSON, and draws do not modify it', () => {
    const rng = seedRng(9);
    const copy = JSON.parse(JSON.stringify(rng)) as Rng;
    expect(nextUint32(copy)).toEqual(nextUint32(rng));
    expect(copy).toEqual(rng);
  });
});

describe('uniformInt', () => {
  test('stays in range and reaches every value', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: 1, max: 50 }), (seed, count) => {
        const values = take(40 * count, seedRng(seed), (rng) => uniformInt(rng, count));
        expect(new Set(values)).toEqual(new Set(Array.from({ length: count }, (_, value) => value)));
      }),
      { numRuns: pureRuns(50) },
    );
  });

  test('has no modulo bias: the lower third of 3 * 2^30 values is not twice as likely', () => {
    const count = 3 * 2 ** 30;
    const values = take(3000, seedRng(1), (rng) => uniformInt(rng, count));
    const lowest = values.filter((value) => value < 2 ** 30).length;
    // Expectation 1000, standard deviation 26; a plain remainder gives 1500.
    expect(lowest).toBeGreaterThan(870);
    expect(lowest).toBeLessThan(1130);
  });

  test.each([0, -1, 1.5, 2 ** 32 + 1, NaN])('rejects a count of %d', (count) => {
    expect(() => uniformInt(seedRng(0), count)).toThrow(RangeError);
  });
});

describe('weightedPick', () => {
  test('never picks weight 0 and follows the weights', () => {
    const picks = take(4000, seedRng(3), (rng) => weightedPick(rng, [0, 3, 0, 1, 0]));
    expect(new Set(picks)).toEqual(new Set([1, 3]));
    const share = picks.filter((index) => index === 1).length / picks.length;
    // Standard deviation 0.007.
    expect(Math.abs(share - 0.75)).toBeLessThan(0.035);
  });

  test.each([[[]], [[0, 0]], [[1, -1]], [[0.5]]])('rejects the weights %j', (weights) => {
    expect(() => weightedPick(seedRng(0), weights)).toThrow(RangeError);
  });
});

describe('shuffle', () => {
  test('permutes a copy', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.array(fc.integer()), (seed, items) => {
        const before = [...items];
        const [shuffled] = shuffle(seedRng(seed), items);
        expect(items).toEqual(before);
        expect([...shuffled].sort()).toEqual([...before].sort());
      }),
    );
  });

  test('gives all orders of three items equally often', () => {
    const counts = new Map<string, number>();
    for (const order of take(6000, seedRng(11), (rng) => shuffle(rng, ['a', 'b', 'c']))) {
      counts.set(order.join(''), (counts.get(order.join('')) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    // Expectation 1000 each, standard deviation 29.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});
