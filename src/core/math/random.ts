/**
 * Seeded random numbers whose whole state is four plain numbers, for an algorithm's JSON state.
 * Generator: sfc32 (Chris Doty-Humphrey, PractRand 0.94). Seeding: the mixer of splitmix32 (Steele,
 * Lea, Flood, OOPSLA 2014, with the 32-bit constants of bryc's public-domain "PRNGs.md").
 * Invariants: every function returns `[value, next]` and leaves its argument unchanged; different
 * (seed, stream) pairs give different states; not for secrets.
 */

/** Four unsigned 32-bit integers. */
export type Rng = readonly [number, number, number, number];

const range = 2 ** 32;

function mix(word: number): number {
  let z = (word + 0x9e3779b9) >>> 0;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
}

/** The generator for any safe integer; `stream` gives independent generators for the same seed. */
export function seedRng(seed: number, stream = 0): Rng {
  if (!Number.isSafeInteger(seed)) {
    throw new RangeError(`rng seed ${seed} is not usable: give an integer between -(2^53 - 1) and 2^53 - 1`);
  }
  let rng: Rng = [mix(seed >>> 0), mix(Math.floor(seed / range) >>> 0), mix(stream >>> 0), 1];
  // The first outputs still correlate with the seed; PractRand discards 12 for a full 96-bit seed.
  for (let round = 0; round < 12; round++) rng = nextUint32(rng)[1];
  return rng;
}

/** An integer from 0 to 2^32 - 1. */
export function nextUint32(rng: Rng): [value: number, next: Rng] {
  const [a, b, c, counter] = rng;
  const value = (a + b + counter) >>> 0;
  const rotated = (c << 21) | (c >>> 11);
  return [value, [(b ^ (b >>> 9)) >>> 0, (c + (c << 3)) >>> 0, (rotated + value) >>> 0, (counter + 1) >>> 0]];
}

/** A uniform integer from 0 to `count` - 1, by rejection of biased values. */
export function uniformInt(rng: Rng, count: number): [value: number, next: Rng] {
  if (!Number.isInteger(count) || count < 1 || count > range) {
    throw new RangeError(`cannot draw from ${count} values: the count must be an integer from 1 to 2^32`);
  }
  const fair = range - (range % count);
  let [value, next] = nextUint32(rng);
  while (value >= fair) [value, next] = nextUint32(next);
  return [value % count, next];
}

/** A random index in proportion to its weight: non-negative integers, at least one above 0. */
export function weightedPick(rng: Rng, weights: readonly number[]): [index: number, next: Rng] {
  if (weights.some((weight) => !Number.isInteger(weight) || weight < 0)) {
    throw new RangeError('weights must be non-negative integers');
  }
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const [drawn, next] = uniformInt(rng, total);
  let left = drawn;
  const index = weights.findIndex((weight) => (left -= weight) < 0);
  return [index, next];
}

/** A copy in uniform random order (Fisher-Yates). */
export function shuffle<T>(rng: Rng, items: readonly T[]): [shuffled: T[], next: Rng] {
  const shuffled = [...items];
  let next = rng;
  for (let last = shuffled.length - 1; last > 0; last--) {
    const [drawn, after] = uniformInt(next, last + 1);
    [shuffled[last], shuffled[drawn]] = [shuffled[drawn]!, shuffled[last]!];
    next = after;
  }
  return [shuffled, next];
}
