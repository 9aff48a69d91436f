import { seedRng, shuffle } from '../math/random.js';

const seed = 1;

/** At most `count` of the rows, drawn at random, the same ones each time, in ascending order. */
export function sampleOf(rows: readonly number[], count: number): number[] {
  const distinct = [...new Set(rows)];
  const [drawn] = shuffle(seedRng(seed), distinct);
  return drawn.slice(0, count).sort((left, right) => left - right);
}
