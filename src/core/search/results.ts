/** All rewards by candidate and seed; repeated rollouts are in the order of their requests. */
import { mean, square, sum } from '../math/rewards.js';

export type Measurement = readonly [ordinal: number, reward: number];

/** By candidate, then by seed; plain JSON. */
export type Results = Readonly<Record<string, Readonly<Record<string, readonly Measurement[]>>>>;

export function addResults(
  results: Results,
  added: readonly { candidate: number; seed: number; ordinal: number; reward: number }[],
): Results {
  const after: Record<string, Record<string, readonly Measurement[]>> = { ...results };
  const copied = new Set<number>();
  for (const { candidate, seed, ordinal, reward } of added) {
    if (!copied.has(candidate)) after[candidate] = { ...after[candidate] };
    copied.add(candidate);
    const own = after[candidate]!;
    own[seed] = [...(own[seed] ?? []), [ordinal, reward]];
  }
  return after;
}

/** A candidate's results on a seed, in the order of requests; empty: it never ran there. */
export function measuredOn(results: Results, candidate: number, seed: number): readonly Measurement[] {
  return results[candidate]?.[seed] ?? [];
}

export interface Noise {
  /** Variance of a reward around the mean of its candidate and seed; 0: none was seen. */
  variance: number;
  /** Degrees of freedom of the variance. */
  comparisons: number;
}

interface Own {
  seeds: readonly (readonly [seed: number, measured: readonly Measurement[]])[];
  low: number;
  high: number;
  /** Repeated rollouts: squared differences from their means, and the degrees of freedom. */
  squares: readonly number[];
  comparisons: number;
}

/** Records are immutable, and most are read again in the next step. Not part of any state. */
const read = new WeakMap<Results[string], Own>();

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

/** The pooled variance of all repeated rollouts. */
export function noiseOf(results: Results): Noise {
  const all = Object.values(results).map(readOwn);
  const comparisons = all.reduce((total, own) => total + own.comparisons, 0);
  return { variance: comparisons === 0 ? 0 : sum(all.flatMap(({ squares }) => squares)) / comparisons, comparisons };
}

/** A completed rollout with its reward. */
export interface RewardedRollout {
  ordinal: number;
  candidate: number;
  seed: number;
  reward: number;
}

/** All slots of a request read the same rollouts. Not part of any state. */
const rewarded = new WeakMap<Results, readonly RewardedRollout[]>();

export function rolloutsOf(results: Results): readonly RewardedRollout[] {
  let all = rewarded.get(results);
  if (!all) rewarded.set(results, (all = readRollouts(results)));
  return all;
}

function readRollouts(results: Results): RewardedRollout[] {
  const all: RewardedRollout[] = [];
  for (const [key, own] of Object.entries(results)) {
    const candidate = Number(key);
    for (const [seed, measured] of readOwn(own).seeds) {
      for (const [ordinal, reward] of measured) all.push({ ordinal, candidate, seed, reward });
    }
  }
  return all.sort((left, right) => left.ordinal - right.ordinal);
}

/** The first of the rollouts on each seed. */
export function firstOfSeeds(rollouts: readonly RewardedRollout[]): RewardedRollout[] {
  const seeds = new Set<number>();
  return rollouts.filter(({ seed }) => !seeds.has(seed) && seeds.add(seed));
}
