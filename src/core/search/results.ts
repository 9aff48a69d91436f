/**
 * Every reward that was paid for, by candidate and seed: what the search reads instead of buying it again. A seed that a
 * candidate was run on several times has several, in the order asked.
 */
import { mean, square, sum } from '../scores.js';

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

/** The noise over all that was run more than once (the pooled variance within a candidate and seed). */
export function noiseOf(results: Results): Noise {
  const squares: number[] = [];
  let comparisons = 0;
  for (const own of Object.values(results)) {
    for (const measured of Object.values(own)) {
      if (measured.length < 2) continue;
      const rewards = measured.map(([, reward]) => reward);
      const center = mean(rewards)!;
      squares.push(...rewards.map((reward) => square(reward - center)));
      comparisons += rewards.length - 1;
    }
  }
  return { variance: comparisons === 0 ? 0 : sum(squares) / comparisons, comparisons };
}
