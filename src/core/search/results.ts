/**
 * Every reward that was paid for, by candidate and seed: what the search reads instead of buying it again. A seed that a
 * candidate was run on several times has several, in the order asked.
 */
import { mean, square, sum } from '../math/rewards.js';

/** One rollout's outcome: its ordinal and its reward (a failed one counts 0). */
export type Measured = readonly [ordinal: number, reward: number];

/** By candidate, then by seed, in decimal; plain JSON. */
export type Results = Readonly<Record<string, Readonly<Record<string, readonly Measured[]>>>>;

/** The results with further ones, each for a candidate on a seed. */
export function addResults(
  results: Results,
  added: readonly { candidate: number; seed: number; ordinal: number; reward: number }[],
): Results {
  const after: Record<string, Record<string, readonly Measured[]>> = { ...results };
  const copied = new Set<number>();
  for (const { candidate, seed, ordinal, reward } of added) {
    if (!copied.has(candidate)) after[candidate] = { ...after[candidate] };
    copied.add(candidate);
    const own = after[candidate]!;
    own[seed] = [...(own[seed] ?? []), [ordinal, reward]];
  }
  return after;
}

/** What a candidate scored on a seed, in the order asked; empty: it never ran there. */
export function measuredOn(results: Results, candidate: number, seed: number): readonly Measured[] {
  return results[candidate]?.[seed] ?? [];
}

/** How far the rewards of one candidate on one seed lie apart. */
export interface Noise {
  /** Variance of a single reward around the mean of its candidate and seed; 0: none was seen. */
  variance: number;
  /** How many comparisons of equal rollouts that rests on (degrees of freedom). */
  comparisons: number;
}

/** What a candidate's rewards say, by ascending place in its record. */
interface Own {
  seeds: readonly (readonly [seed: number, measured: readonly Measured[]])[];
  low: number;
  high: number;
  /** Of what was run more than once: the squares around the means, and how many comparisons they rest on. */
  squares: readonly number[];
  comparisons: number;
}

/** Records are never written to, and most are read again in the next turn as they are. Not part of any state. */
const read = new WeakMap<Results[string], Own>();

/** What a candidate's rewards say: its seeds as numbers, the least and the largest reward, and how far equal rollouts lie apart. */
export function readOwn(record: Results[string]): Own {
  let own = read.get(record);
  if (!own) read.set(record, (own = readRecord(record)));
  return own;
}

function readRecord(record: Results[string]): Own {
  const seeds = Object.entries(record).map(([seed, measured]) => [Number(seed), measured] as const);
  const squares: number[] = [];
  let comparisons = 0;
  let low = Infinity;
  let high = -Infinity;
  for (const [, measured] of seeds) {
    for (const [, reward] of measured) {
      low = Math.min(low, reward);
      high = Math.max(high, reward);
    }
    if (measured.length < 2) continue;
    const rewards = measured.map(([, reward]) => reward);
    const center = mean(rewards)!;
    squares.push(...rewards.map((reward) => square(reward - center)));
    comparisons += rewards.length - 1;
  }
  return { seeds, low, high, squares, comparisons };
}

/** The noise over all that was run more than once (the pooled variance within a candidate and seed). */
export function noiseOf(results: Results): Noise {
  const all = Object.values(results).map(readOwn);
  const comparisons = all.reduce((total, own) => total + own.comparisons, 0);
  return { variance: comparisons === 0 ? 0 : sum(all.flatMap(({ squares }) => squares)) / comparisons, comparisons };
}
