/**
 * Invariants: suggestions are in the space; no finished or running combination repeats while an
 * untried one remains; only the order of values matters; `suggest` is pure. The sampler finds
 * optima sooner than random search without repetition.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Space } from '../../../../src/core/algorithms/mipro/parzen.js';
import { split, suggest, type Trial } from '../../../../src/core/algorithms/mipro/tpe.js';
import { seedRng } from '../../../../src/core/math/random.js';
import { choicesIn, combinations, searches, spaces, trialsIn } from './spaces.js';

describe('split', () => {
  const valued = (values: number[]): Trial[] => values.map((value, at) => ({ choices: [at], value }));

  test.each([
    [1, 1],
    [10, 1],
    [11, 2],
    [20, 2],
    [241, 25],
    [600, 25],
  ])('with %d trials the best %d are good', (count, indexes) => {
    const { good, bad } = split(valued(Array.from({ length: count }, (_, at) => at)), []);
    expect(good).toEqual(Array.from({ length: indexes }, (_, at) => ({ choices: [count - indexes + at], weight: 1 })));
    expect(bad).toHaveLength(count - indexes);
  });

  test('shares the last good places among ties', () => {
    // The best 2 of 11: one is best, and four tie for second.
    const { good, bad } = split(valued([3, 9, 3, 1, 1, 1, 3, 1, 1, 1, 3]), []);
    expect(good).toEqual([
      { choices: [0], weight: 0.25 },
      { choices: [1], weight: 1 },
      { choices: [2], weight: 0.25 },
      { choices: [6], weight: 0.25 },
      { choices: [10], weight: 0.25 },
    ]);
    expect(bad.map(({ weight }) => weight)).toEqual([0.75, 0.75, 1, 1, 1, 0.75, 1, 1, 1, 0.75]);
  });

  test('counts running trials as bad', () => {
    expect(split(valued([1, 2]), [[7]]).bad).toEqual([
      { choices: [0], weight: 1 },
      { choices: [7], weight: 1 },
    ]);
  });
});

describe('startup', () => {
  test('suggests every choice once before repeating any, with running trials', () => {
    for (let seed = 0; seed < 20; seed++) {
      const running: number[][] = [];
      let rng = seedRng(seed);
      for (let at = 0; at < 8; at++) {
        const [choices, next] = suggest(rng, [8, 8, 4], [], running);
        running.push(choices);
        rng = next;
      }
      const seen = (dimension: number) => running.map((choices) => choices[dimension]!).sort();
      expect(seen(0)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      expect(seen(1)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      expect(seen(2)).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    }
  });

  test('ignores values below the given number of trials', () => {
    const space = [6, 6];
    const flat = [0, 1, 2, 3].map((at) => ({ choices: [at, at], value: 0 }));
    const tilted = flat.map((trial, at) => ({ ...trial, value: at }));
    const suggestions = (trials: Trial[], startup: number) =>
      Array.from({ length: 30 }, (_, seed) => suggest(seedRng(seed), space, trials, [], { startup })[0]);
    expect(suggestions(tilted, 5)).toEqual(suggestions(flat, 5));
    expect(suggestions(tilted, 4)).not.toEqual(suggestions(flat, 4));
  });
});

test('one draw follows the good trials; many draws also avoid the bad ones', () => {
  // Only the best trial has 0 in the first dimension; the third keeps combinations untried.
  const trials = Array.from({ length: 10 }, (_, at) => ({
    choices: [at === 4 ? 0 : 1, at, 0],
    value: at === 4 ? 1 : 0,
  }));
  const shareOfZero = (draws: number) =>
    Array.from({ length: 200 }, (_, seed) => suggest(seedRng(seed), [4, 10, 20], trials, [], { draws })[0]).filter(
      ([choice]) => choice === 0,
    ).length / 200;
  expect(shareOfZero(1)).toBeGreaterThan(0.3);
  expect(shareOfZero(1)).toBeLessThan(0.7);
  expect(shareOfZero(24)).toBeGreaterThan(0.9);
});

test('running trials make their choices less likely', () => {
  const trials = Array.from({ length: 10 }, (_, at) => ({ choices: [at, at], value: at === 4 ? 1 : 0 }));
  const running = [4, 4, 4, 4].map((row, at) => [row, at]);
  const shareOfRow = (pending: number[][]) =>
    Array.from({ length: 200 }, (_, seed) => suggest(seedRng(seed), [10, 10], trials, pending)[0]).filter(
      ([row]) => row === 4,
    ).length / 200;
  expect(shareOfRow(running)).toBeLessThan(shareOfRow([]) - 0.2);
});

test('a choice added to the space is tried', () => {
  let trials: Trial[] = combinations([3, 3]).map((choices) => ({ choices, value: choices[0]! }));
  trials = [...trials, ...trials];
  const [choices] = suggest(seedRng(1), [3, 4], trials, []);
  expect(choices[1]).toBe(3);
});

describe('for any search', () => {
  test('suggests combinations in the space, and no finished or running one while others are untried', () => {
    fc.assert(
      fc.property(searches, ({ space, trials, pending, seed, startup }) => {
        const [choices] = suggest(seedRng(seed), space, trials, pending, { startup });
        expect(combinations(space)).toContainEqual(choices);
        const taken = new Set([...trials.map((trial) => trial.choices), ...pending].map(String));
        if (taken.size < combinations(space).length) expect(taken).not.toContain(String(choices));
      }),
    );
  });

  test('finds the last untried combination in any space', () => {
    fc.assert(
      fc.property(spaces, fc.nat(), fc.nat(), (space, seed, left) => {
        const all = combinations(space);
        const [last] = all.splice(left % all.length, 1);
        const trials = all.map((choices) => ({
          choices,
          value: -choices.filter((_, at) => choices[at] === last![at]).length,
        }));
        expect(suggest(seedRng(seed), space, trials, [])[0]).toEqual(last);
      }),
    );
  });

  test('is deterministic, does not modify its arguments, and advances the generator', () => {
    fc.assert(
      fc.property(searches, ({ space, trials, pending, seed }) => {
        const frozen = deepFreeze({ space, trials, pending });
        const rng = deepFreeze(seedRng(seed));
        const first = suggest(rng, frozen.space, frozen.trials, frozen.pending);
        expect(suggest(rng, frozen.space, frozen.trials, frozen.pending)).toEqual(first);
        expect(first[1]).not.toEqual(rng);
      }),
    );
  });

  test('depends only on the order of values', () => {
    const scale = [-1e300, -7, 0, 1e-300, 1e-9, 1e308];
    const ranked = spaces.chain((space) =>
      fc.record({
        space: fc.constant(space),
        // From 11 trials on two are good, and their weights could differ.
        ranks: fc.array(fc.record({ choices: choicesIn(space), rank: fc.nat(5) }), { minLength: 11, maxLength: 30 }),
        seed: fc.nat(),
      }),
    );
    fc.assert(
      fc.property(ranked, ({ space, ranks, seed }) => {
        const plain = ranks.map(({ choices, rank }) => ({ choices, value: rank }));
        const scaled = ranks.map(({ choices, rank }) => ({ choices, value: scale[rank]! }));
        expect(split(scaled, [])).toEqual(split(plain, []));
        expect(suggest(seedRng(seed), space, scaled, [])).toEqual(suggest(seedRng(seed), space, plain, []));
      }),
    );
  });

  test('accepts trials of a smaller space', () => {
    const grown = spaces.chain((space) =>
      fc.record({
        trials: trialsIn(space),
        pending: fc.array(choicesIn(space), { maxLength: 5 }),
        larger: fc.tuple(...space.map((count) => fc.integer({ min: count, max: count + 4 }))),
        seed: fc.nat(),
      }),
    );
    fc.assert(
      fc.property(grown, ({ trials, pending, larger, seed }) => {
        const [choices] = suggest(seedRng(seed), larger, trials, pending);
        expect(combinations(larger)).toContainEqual(choices);
      }),
    );
  });
});

test.each<[string, Space, Trial[], number[][], RegExp]>([
  ['NaN', [2], [{ choices: [1], value: NaN }], [], /^the value of \[1\] is NaN: give a finite number$/],
  ['infinity', [2], [{ choices: [1], value: Infinity }], [], /is Infinity/],
  ['a choice beyond its dimension', [2], [{ choices: [2], value: 1 }], [], /^choices \[2\] are not in the space \[2\]/],
  ['a fractional choice', [2], [{ choices: [0.5], value: 1 }], [], /^choices \[0.5\]/],
  ['a running combination of too few dimensions', [2, 2], [], [[1]], /^choices \[1\] are not in the space \[2,2\]/],
  ['a dimension without choices', [2, 0], [], [], /^dimension 1 has 0 choices/],
])('rejects %s', (_, space, trials, pending, message) => {
  expect(() => suggest(seedRng(1), space, trials, pending)).toThrow(RangeError);
  expect(() => suggest(seedRng(1), space, trials, pending)).toThrow(message);
});

// Random search without repetition needs (size + 1) / 2 trials on average; its standard error over
// 30 seeds is about a tenth of that.
test.each<[string, Space, (choices: readonly number[]) => number, number]>([
  ['separable', [8, 8, 8], ([a, b, c]) => a! + ((b! * 3) % 8) + ((c! * 5) % 8), 0.3],
  ['with an interaction', [10, 10], ([a, b]) => a! + b! - 3 * Math.abs(a! - b!), 0.75],
])('%s: finds the optimum sooner than random search', (_, space, valueOf, share) => {
  const best = Math.max(...combinations(space).map(valueOf));
  const counts = Array.from({ length: 30 }, (_, seed) => {
    let rng = seedRng(seed);
    const trials: Trial[] = [];
    for (;;) {
      const [choices, next] = suggest(rng, space, trials, []);
      const value = valueOf(choices);
      trials.push({ choices, value });
      if (value === best) return trials.length;
      rng = next;
    }
  });
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  expect(mean).toBeLessThan(share * ((combinations(space).length + 1) / 2));
});

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
