/** Densities computed by hand; properties: densities sum to 1, and draws follow them. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  alone,
  drawFrom,
  parzen,
  together,
  type Draws,
  type Parzen,
} from '../../../../src/core/algorithms/mipro/parzen.js';
import { nextUint32, seedRng, uniformInt } from '../../../../src/core/math/random.js';
import { combinations, mixtures } from './spaces.js';

// Two kernels of weight 1 and the prior, total 3: a kernel keeps its choice with probability 3/4,
// else draws from all. Relative to uniform: 7/4 of two choices, 10/4 of three, 1/4 elsewhere.
const tiny = parzen(
  [2, 3],
  [
    { choices: [0, 1], weight: 1 },
    { choices: [0, 2], weight: 1 },
  ],
);

test.each([
  [[0, 1], (1 + (7 * 10) / 16 + (7 * 1) / 16) / 3, ((1 + 14 / 4) / 3) * ((1 + 11 / 4) / 3)],
  [[0, 0], (1 + 7 / 16 + 7 / 16) / 3, ((1 + 14 / 4) / 3) * ((1 + 2 / 4) / 3)],
  [[1, 2], (1 + 1 / 16 + 10 / 16) / 3, ((1 + 2 / 4) / 3) * ((1 + 11 / 4) / 3)],
])('the densities of %j', (choices, ofBoth, ofEach) => {
  expect(together(tiny, choices)).toBeCloseTo(ofBoth, 12);
  expect(alone(tiny, choices)).toBeCloseTo(ofEach, 12);
});

test('a weight counts as a number of kernels, against a prior of 1', () => {
  const half = parzen([2], [{ choices: [0], weight: 0.5 }]);
  expect(half.total).toBe(1.5);
  // Keeps its choice with probability 1.5 / 2.5: (1.5 * 2 + 1) / 2.5 = 1.6.
  expect(together(half, [0])).toBeCloseTo((1 + 0.5 * 1.6) / 1.5, 12);
});

test('the density without kernels is uniform', () => {
  expect(together(parzen([4, 5], []), [3, 1])).toBe(1);
  expect(alone(parzen([4, 5], []), [3, 1])).toBe(1);
});

test('densities have a mean of 1 over the space', () => {
  fc.assert(
    fc.property(mixtures, (mixture) => {
      const all = combinations(mixture.space);
      for (const density of [together, alone]) {
        expect(all.reduce((sum, choices) => sum + density(mixture, choices), 0) / all.length).toBeCloseTo(1, 9);
      }
    }),
  );
});

test.each([
  ['together', together, false],
  ['alone', alone, true],
] as const)('draws follow the density: %s', (_, density, isAlone) => {
  const draws = drawsOf(5);
  const counts = new Map<string, number>();
  const total = 20_000;
  for (let at = 0; at < total; at++) {
    const key = drawFrom(draws, tiny, isAlone).join();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  for (const choices of combinations(tiny.space)) {
    const expected = density(tiny, choices) / 6;
    // Four standard deviations of a share are below 0.015.
    expect(Math.abs((counts.get(choices.join()) ?? 0) / total - expected)).toBeLessThan(0.015);
  }
});

test('densities of many dimensions stay above 0', () => {
  const space = new Array<number>(120).fill(20);
  const far: Parzen = parzen(space, [{ choices: space.map(() => 0), weight: 1 }]);
  const elsewhere = space.map(() => 1);
  expect(together(far, elsewhere)).toBeGreaterThan(0.49);
  expect(alone(far, elsewhere)).toBeGreaterThan(0);
});

function drawsOf(seed: number): Draws {
  let rng = seedRng(seed);
  return {
    below: (count) => {
      const [value, next] = uniformInt(rng, count);
      rng = next;
      return value;
    },
    fraction: () => {
      const [value, next] = nextUint32(rng);
      rng = next;
      return value / 2 ** 32;
    },
  };
}
