/**
 * What is believed of a candidate on a seed, without buying it: a child is expected to score what its parents did until it
 * is measured itself. Where rewards are noisy a measurement is weighed against that expectation (a Kalman filter along the
 * lineage, Kalman 1960, one dimension a seed), so a seed that was picked because it failed does not count as one that always
 * fails; without noise what was measured last is what is believed.
 */
import { mean, square, sum } from '../math/rewards.js';
import { noiseOf, readOwn, type Measured, type Noise, type Results } from './results.js';

/** `age`: how many edits ago it was last measured; `ordinal`: of that rollout, the latest where there are several. */
export interface Posterior {
  mean: number;
  variance: number;
  age: number;
  ordinal: number;
}

/** How much one edit may change a seed's reward: variance added for each step down the lineage. */
const drift = 0.1;
/** More than any lineage has edits: a candidate and a number of edits make one number. */
const lineageLength = 2 ** 20;
/** Edits after which what was found is remembered rather than looked for again. */
const longWay = 16;

/**
 * Reads beliefs from results; `parentsOf` is the lineage, empty for the baseline. What was worked out once is remembered:
 * the results that were read must not be written to.
 */
export class RewardModel {
  readonly noise: Noise;
  private readonly bySeed: ReadonlyMap<number, ReadonlyMap<number, readonly Measured[]>>;
  private readonly parentsOf: (candidate: number) => readonly number[];
  private readonly posteriors = new Map<number, Map<number, Posterior | null>>();
  private readonly bases = new Map<number, number | null>();
  private readonly baselinePrior: { mean: number; variance: number };
  private lastMeans: { seeds: readonly number[]; byCandidate: ReadonlyMap<number, number> } | null = null;
  private measured: { seeds: readonly number[]; found: readonly number[] } | null = null;
  private readonly estimates = new Map<number, { seeds: readonly number[]; estimate: Estimate | null }>();

  constructor(results: Results, parentsOf: (candidate: number) => readonly number[]) {
    this.bySeed = bySeedOf(results);
    this.parentsOf = parentsOf;
    this.noise = noiseOf(results);
    this.baselinePrior = priorOf(results, this.noise.variance);
  }

  /** Null: neither the candidate nor an ancestor of it was ever run there. */
  posterior(candidate: number, seed: number): Posterior | null {
    const measured = this.bySeed.get(seed);
    if (!measured) return null;
    const known = this.knownOn(seed);
    const source = this.sourceOf(candidate, measured, known);
    const edits = source % lineageLength;
    const belief = this.after(this.at((source - edits) / lineageLength, seed, measured, known), edits);
    if (edits >= longWay) known.set(candidate, belief);
    return belief;
  }

  /** The candidate's expected mean over those of the seeds of which anything is known; null: of none. */
  mean(candidate: number, seeds: readonly number[]): Estimate | null {
    const before = this.estimates.get(candidate);
    if (before?.seeds === seeds) return before.estimate;
    const estimate = this.estimate(candidate, seeds);
    this.estimates.set(candidate, { seeds, estimate });
    return estimate;
  }

  /**
   * The same means for many candidates, worked out together, which is much faster: each by its number, but for those of which
   * nothing is known. The candidates ascend, and all their forebears are among them.
   */
  means(candidates: readonly { candidate: number }[], seeds: readonly number[]): ReadonlyMap<number, number> {
    if (this.lastMeans?.seeds === seeds) return this.lastMeans.byCandidate;
    const numbers = candidates.map(({ candidate }) => candidate);
    const placeOf = new Map(numbers.map((candidate, index) => [candidate, index]));
    const parents = numbers.map((candidate) => this.parentsOf(candidate).map((parent) => placeOf.get(parent)!));
    const known: number[][] = numbers.map(() => []);
    const current = numbers.map((): Posterior => ({ mean: 0, variance: 0, age: 0, ordinal: 0 }));
    const isKnown = numbers.map(() => false);
    const step = this.noise.variance > 0 ? drift : 0;
    for (const seed of seeds) {
      const measured = this.bySeed.get(seed);
      if (!measured) continue;
      for (const [index, candidate] of numbers.entries()) {
        let from: Posterior | null = null;
        for (const parent of parents[index]!) {
          const belief = current[parent]!;
          if (isKnown[parent] && (from === null || isNearer(belief, from))) from = belief;
        }
        // Written over for the next seed: one object for each would be most of the work.
        const belief = current[index]!;
        const own = measured.get(candidate);
        isKnown[index] = from !== null || own !== undefined;
        if (from !== null) {
          belief.mean = from.mean;
          belief.variance = from.variance + step;
          belief.age = from.age + 1;
        }
        if (own)
          Object.assign(
            belief,
            this.weigh(from === null ? { ...this.baselinePrior, age: 0, ordinal: 0 } : belief, own),
          );
        if (isKnown[index]) known[index]!.push(belief.mean);
      }
    }
    const found = numbers.flatMap((candidate, index) => {
      const own = mean(known[index]!);
      return own === null ? [] : [[candidate, own] as const];
    });
    this.lastMeans = { seeds, byCandidate: new Map(found) };
    return this.lastMeans.byCandidate;
  }

  /** What is expected of a candidate on a seed before it is run there itself. */
  prior(candidate: number, seed: number): Posterior | null {
    const measured = this.bySeed.get(seed);
    if (!measured) return null;
    const known = this.knownOn(seed);
    const seen = new Set<number>();
    let nearest: Posterior | null = null;
    for (const parent of this.parentsOf(candidate)) {
      const source = this.sourceOf(parent, measured, known);
      // A merge's parents mostly have it from the same ancestor.
      if (seen.has(source)) continue;
      seen.add(source);
      const edits = source % lineageLength;
      const belief = this.after(this.at((source - edits) / lineageLength, seed, measured, known), edits);
      if (belief !== null && (nearest === null || isNearer(belief, nearest))) nearest = belief;
    }
    return this.after(nearest, 1);
  }

  private knownOn(seed: number): Map<number, Posterior | null> {
    let known = this.posteriors.get(seed);
    if (!known) this.posteriors.set(seed, (known = new Map<number, Posterior | null>()));
    return known;
  }

  /**
   * Whose belief a candidate has, and how many edits ago, as one number: lineages are long, most of their candidates were never run on a
   * seed, and those hand down what their one parent has, or what all their parents have from the same one.
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
      if (base === null || parents.some((one) => measured.has(one))) return from * lineageLength + edits;
      from = base;
      edits += 2;
    }
  }

  /** The one parent that all of a merge's parents have; null: they have others. */
  private baseOf(merge: number, parents: readonly number[]): number | null {
    const before = this.bases.get(merge);
    if (before !== undefined) return before;
    const [base, ...others] = new Set(parents.flatMap((parent) => this.parentsOf(parent)));
    const isShared =
      base !== undefined && others.length === 0 && parents.every((one) => this.parentsOf(one).length === 1);
    this.bases.set(merge, isShared ? base : null);
    return isShared ? base : null;
  }

  /** The belief of a candidate that was run on the seed, or has several parents or none. */
  private at(
    candidate: number,
    seed: number,
    measured: ReadonlyMap<number, readonly Measured[]>,
    known: Map<number, Posterior | null>,
  ): Posterior | null {
    const before = known.get(candidate);
    if (before !== undefined) return before;
    const expected = this.prior(candidate, seed);
    const own = measured.get(candidate);
    const belief = own ? this.weigh(expected ?? { ...this.baselinePrior, age: 0, ordinal: 0 }, own) : expected;
    known.set(candidate, belief);
    return belief;
  }

  private after(belief: Posterior | null, edits: number): Posterior | null {
    if (belief === null || edits === 0) return belief;
    let { variance } = belief;
    if (this.noise.variance > 0) for (let edit = 0; edit < edits; edit++) variance += drift;
    return { ...belief, variance, age: belief.age + edits };
  }

  private weigh(expected: Posterior, own: readonly Measured[]): Posterior {
    const measured = mean(own.map(([, reward]) => reward))!;
    const ordinal = own.at(-1)![0];
    const noise = this.noise.variance / own.length;
    // Not by the formula: 0.9 + (0.2 - 0.9) is not 0.2.
    if (noise === 0) return { mean: measured, variance: 0, age: 0, ordinal };
    const gain = expected.variance / (expected.variance + noise);
    return {
      mean: expected.mean + gain * (measured - expected.mean),
      variance: (1 - gain) * expected.variance,
      age: 0,
      ordinal,
    };
  }

  /** Those of the seeds on which anybody was run: of a large training set few were. */
  private measuredOf(seeds: readonly number[]): readonly number[] {
    if (this.measured?.seeds !== seeds) {
      this.measured = { seeds, found: seeds.filter((seed) => this.bySeed.has(seed)) };
    }
    return this.measured.found;
  }

  private estimate(candidate: number, seeds: readonly number[]): Estimate | null {
    const known = this.measuredOf(seeds)
      .map((seed) => this.posterior(candidate, seed))
      .filter((belief) => belief !== null);
    if (known.length === 0) return null;
    const center = mean(known.map((belief) => belief.mean))!;
    const spread = sum(known.map((belief) => square(belief.mean - center))) / Math.max(1, known.length - 1);
    const doubt = sum(known.map((belief) => belief.variance)) / known.length;
    return { mean: center, error: Math.sqrt((spread + doubt) / known.length) };
  }
}

/** Of a merge's parents the one that was measured last knows most; of equals the better, whose edit the merge has too. */
function isNearer(one: Posterior, other: Posterior): boolean {
  return one.age < other.age || (one.age === other.age && one.mean > other.mean);
}

function bySeedOf(results: Results): Map<number, Map<number, readonly Measured[]>> {
  const bySeed = new Map<number, Map<number, readonly Measured[]>>();
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

/** What a seed scores before anything is known of it: mean and variance between the baseline's seeds, less the noise. */
function priorOf(results: Results, noise: number): { mean: number; variance: number } {
  const means = Object.values(results[0] ?? {}).map((own) => mean(own.map(([, reward]) => reward))!);
  const center = mean(means) ?? 0;
  const spread = means.length < 2 ? 0 : sum(means.map((one) => square(one - center))) / (means.length - 1);
  return { mean: center, variance: Math.max(spread - noise, noise / 4) };
}

/** A mean with how sure it is (a standard error). */
export interface Estimate {
  mean: number;
  error: number;
}
