/**
 * The expected reward of a candidate on a seed: its parents' until it is measured itself. With
 * noise, a Kalman filter along the lineage (Kalman 1960, one dimension for each seed) weighs a
 * measurement against that expectation, so a seed selected because it failed does not count as one
 * that always fails. Without noise the last measurement is the expected reward.
 */
import { widestInterval, type IntervalOfMean } from '../math/mean-interval.js';
import { mean, square, sum } from '../math/rewards.js';
import { noiseOf, readOwn, type Measurement, type Noise, type Results } from './results.js';

/** `age`: edits since the last measurement; `ordinal` and `latest`: its latest rollout. */
export interface Posterior {
  mean: number;
  variance: number;
  age: number;
  ordinal: number;
  latest: number;
}

/** An expected mean reward with its 95 % interval. */
export type RewardEstimate = IntervalOfMean;

/** What is known of the mean on `rows` rows, as an estimate for unseen rows of their kind. */
export function forUnseenRows({ mean, low, high }: RewardEstimate, rows: number): RewardEstimate {
  const range = { low: Math.min(0, low), high: Math.max(1, high) };
  const sampled = widestInterval(mean, rows);
  return {
    mean,
    low: Math.max(range.low, mean - Math.hypot(mean - low, mean - sampled.low)),
    high: Math.min(range.high, mean + Math.hypot(high - mean, sampled.high - mean)),
  };
}

/** Variance that one edit adds to a seed's reward. */
const drift = 0.1;
/** More than the edits of any lineage: packs a candidate and a number of edits into one number. */
const lineageLength = 2 ** 20;
/** Edits after which a posterior is cached for the candidate. */
const longWay = 16;

/** The model of fixed results, with a cache: the results must not change. */
export class RewardModel {
  readonly noise: Noise;
  private readonly bySeed: ReadonlyMap<number, ReadonlyMap<number, readonly Measurement[]>>;
  private readonly parentsOf: (candidate: number) => readonly number[];
  private readonly posteriors = new Map<number, Map<number, Posterior | null>>();
  private readonly bases = new Map<number, number | null>();
  private readonly baselinePrior: { mean: number; variance: number };
  private measured: { seeds: readonly number[]; found: readonly number[] } | null = null;

  constructor(results: Results, parentsOf: (candidate: number) => readonly number[]) {
    this.bySeed = bySeedOf(results);
    this.parentsOf = parentsOf;
    this.noise = noiseOf(results);
    this.baselinePrior = priorOf(results, this.noise.variance);
  }

  /** Null: neither the candidate nor an ancestor has a result there. */
  posterior(candidate: number, seed: number): Posterior | null {
    const measured = this.bySeed.get(seed);
    if (!measured) return null;
    const known = this.knownOn(seed);
    const source = this.sourceOf(candidate, measured, known);
    const edits = source % lineageLength;
    const posterior = this.after(this.at((source - edits) / lineageLength, seed, measured, known), edits);
    if (edits >= longWay) known.set(candidate, posterior);
    return posterior;
  }

  /**
   * The expected rewards of candidates on the same seeds: all of `seeds` with a result. Where a
   * candidate has no posterior, that of the candidate that ran the seed first stands in, so a
   * candidate that looks for new failures does not fall behind those that never looked.
   */
  comparable(candidates: readonly number[], seeds: readonly number[]): ReadonlyMap<number, readonly number[]> {
    const known = this.measuredOf(seeds);
    const first = known.map((seed) => this.expected(this.firstOn(seed), seed)!);
    const rewardsOf = (candidate: number) =>
      known.map((seed, index) => this.expected(candidate, seed) ?? first[index]!);
    return new Map(candidates.map((candidate) => [candidate, rewardsOf(candidate)]));
  }

  /** The mean of a posterior, which edits do not change. */
  private expected(candidate: number, seed: number): number | undefined {
    const measured = this.bySeed.get(seed);
    if (!measured) return undefined;
    const known = this.knownOn(seed);
    const source = this.sourceOf(candidate, measured, known);
    const edits = source % lineageLength;
    const posterior = this.at((source - edits) / lineageLength, seed, measured, known);
    if (edits >= longWay) known.set(candidate, this.after(posterior, edits));
    return posterior?.mean;
  }

  /** The candidate that ran a seed first. */
  private firstOn(seed: number): number {
    let first = { candidate: 0, ordinal: Infinity };
    for (const [candidate, [run]] of this.bySeed.get(seed)!) {
      if (run![0] < first.ordinal) first = { candidate, ordinal: run![0] };
    }
    return first.candidate;
  }

  /** The expected reward of a candidate on a seed without its own results there. */
  prior(candidate: number, seed: number): Posterior | null {
    const measured = this.bySeed.get(seed);
    if (!measured) return null;
    const known = this.knownOn(seed);
    const seen = new Set<number>();
    let nearest: Posterior | null = null;
    for (const parent of this.parentsOf(candidate)) {
      const source = this.sourceOf(parent, measured, known);
      // A merge's parents mostly inherit from the same ancestor.
      if (seen.has(source)) continue;
      seen.add(source);
      const edits = source % lineageLength;
      const posterior = this.after(this.at((source - edits) / lineageLength, seed, measured, known), edits);
      if (posterior !== null && (nearest === null || isNearer(posterior, nearest))) nearest = posterior;
    }
    return this.after(nearest, 1);
  }

  private knownOn(seed: number): Map<number, Posterior | null> {
    let known = this.posteriors.get(seed);
    if (!known) this.posteriors.set(seed, (known = new Map<number, Posterior | null>()));
    return known;
  }

  /**
   * The ancestor whose posterior a candidate inherits, and the edits since, as one number: the next
   * measured ancestor along only parents, or common parents of a merge's parents.
   */
  private sourceOf(
    candidate: number,
    measured: ReadonlyMap<number, unknown>,
    known: ReadonlyMap<number, unknown>,
  ): number {
    let from = candidate;
    for (let edits = 0; ;) {
      if (measured.has(from) || known.has(from)) return from * lineageLength + edits;
      const parents = this.parentsOf(from);
      const [parent] = parents;
      if (parent === undefined) return from * lineageLength + edits;
      if (parents.length === 1) {
        from = parent;
        edits += 1;
        continue;
      }
      const base = this.baseOf(from, parents);
      if (base === null || parents.some((parent) => measured.has(parent))) return from * lineageLength + edits;
      from = base;
      edits += 2;
    }
  }

  /** The common only parent of a merge's parents; null: they have others. */
  private baseOf(merge: number, parents: readonly number[]): number | null {
    const before = this.bases.get(merge);
    if (before !== undefined) return before;
    const [base, ...others] = new Set(parents.flatMap((parent) => this.parentsOf(parent)));
    const isShared =
      base !== undefined && others.length === 0 && parents.every((parent) => this.parentsOf(parent).length === 1);
    this.bases.set(merge, isShared ? base : null);
    return isShared ? base : null;
  }

  /** The posterior of a candidate with own results, with several parents, or without parents. */
  private at(
    candidate: number,
    seed: number,
    measured: ReadonlyMap<number, readonly Measurement[]>,
    known: Map<number, Posterior | null>,
  ): Posterior | null {
    const before = known.get(candidate);
    if (before !== undefined) return before;
    const expected = this.prior(candidate, seed);
    const own = measured.get(candidate);
    const posterior = own
      ? this.weigh(expected ?? { ...this.baselinePrior, age: 0, ordinal: 0, latest: 0 }, own)
      : expected;
    known.set(candidate, posterior);
    return posterior;
  }

  private after(posterior: Posterior | null, edits: number): Posterior | null {
    if (posterior === null || edits === 0) return posterior;
    let { variance } = posterior;
    if (this.noise.variance > 0) for (let edit = 0; edit < edits; edit++) variance += drift;
    return { ...posterior, variance, age: posterior.age + edits };
  }

  private weigh(expected: Posterior, own: readonly Measurement[]): Posterior {
    const measured = mean(own.map(([, reward]) => reward))!;
    const [ordinal, latest] = own.at(-1)!;
    const noise = this.noise.variance / own.length;
    // Do not use the formula: 0.9 + (0.2 - 0.9) is not 0.2.
    if (noise === 0) return { mean: measured, variance: 0, age: 0, ordinal, latest };
    const gain = expected.variance / (expected.variance + noise);
    return {
      mean: expected.mean + gain * (measured - expected.mean),
      variance: (1 - gain) * expected.variance,
      age: 0,
      ordinal,
      latest,
    };
  }

  private measuredOf(seeds: readonly number[]): readonly number[] {
    if (this.measured?.seeds !== seeds) {
      this.measured = { seeds, found: seeds.filter((seed) => this.bySeed.has(seed)) };
    }
    return this.measured.found;
  }
}

/** The latest measured parent is best informed; of equals the better: the merge has its edit. */
function isNearer(posterior: Posterior, other: Posterior): boolean {
  return posterior.age < other.age || (posterior.age === other.age && posterior.mean > other.mean);
}

function bySeedOf(results: Results): Map<number, Map<number, readonly Measurement[]>> {
  const bySeed = new Map<number, Map<number, readonly Measurement[]>>();
  for (const [candidate, own] of Object.entries(results)) {
    const number = Number(candidate);
    for (const [seed, measured] of readOwn(own).seeds) {
      const there = bySeed.get(seed);
      if (there) there.set(number, measured);
      else bySeed.set(seed, new Map([[number, measured]]));
    }
  }
  return bySeed;
}

/** Prior of a seed: mean and variance between the baseline's seeds, less the noise. */
function priorOf(results: Results, noise: number): { mean: number; variance: number } {
  const means = Object.values(results[0] ?? {}).map((own) => mean(own.map(([, reward]) => reward))!);
  const center = mean(means) ?? 0;
  const spread = means.length < 2 ? 0 : sum(means.map((own) => square(own - center))) / (means.length - 1);
  return { mean: center, variance: Math.max(spread - noise, noise / 4) };
}
