import { givenRuns, givenSeed, suite } from './environment.js';

/** Number of runs of a long property, in the quick suite and in all tests. */
export const runs = (quick: number, all: number): number => (suite === 'all' ? all : quick);

/** The same of a pure property; TEST_RUNS replaces both numbers. */
export const pureRuns = (quick = 100, all = 2_000): number => givenRuns ?? runs(quick, all);

/**
 * Seed of a long seeded test: fixed in the quick suite, random and printed once in `npm run
 * test:all`. TEST_SEED repeats a run.
 */
export function seedOf(test: string, fixed: number): number {
  if (givenSeed !== undefined) return Number(givenSeed);
  if (suite === 'quick') return fixed;
  const seed = Math.floor(Math.random() * 2 ** 31);
  process.stderr.write(`${test}: TEST_SEED=${seed}\n`);
  return seed;
}
