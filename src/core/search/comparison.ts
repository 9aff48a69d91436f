/** The comparison of two candidates on the seeds that both ran. */
import { meanInterval, type Interval } from '../math/mean-interval.js';
import { exceeds, mean } from '../math/rewards.js';
import { pairedVerdictP, sampleOf, testPaired } from '../math/statistics.js';
import { leastShown } from '../math/least-shown.js';
import type { SearchConfig } from './config.js';
import type { SearchVerdict } from './protocol.js';
import { verdictOf } from './view.js';

/** Means over a candidate's succeeded rollouts on one seed. */
export interface SeedMeans {
  reward: number;
  /** Dollars; null: a call of unknown cost. */
  costUsd: number | null;
  /** Recorded model calls of these rollouts. */
  calls: number;
  /** null: not measured. */
  latencyMs: number | null;
}

/** Means of one side over the compared seeds; repeated rollouts of a seed count as one. */
export interface ComparedSide {
  reward: number;
  /** Of the reward, for unseen seeds. */
  interval: Interval;
  /** Dollars per rollout; null: a call of unknown cost, or no recorded call. */
  costUsd: number | null;
  latencyMs: { mean: number; p50: number } | null;
}

/** In `verdict` `b` is the winner and `a` the baseline; `won`, `lost`, `tied`: seeds of `b`. */
export interface SeedComparison {
  /** Those that are compared. */
  seeds: number[];
  verdict: SearchVerdict;
  /** That of the verdict. */
  p: number;
  won: number;
  lost: number;
  tied: number;
}

/** What the comparison of winner and baseline can show, before anything is spent. */
export interface PlannedComparison {
  basis: SearchVerdict['basis'];
  seeds: number;
  /** The least difference that will show; null: none. */
  leastDifference: number | null;
}

export function plannedComparison(search: Pick<SearchConfig, 'heldoutSeeds' | 'evaluationSeeds'>): PlannedComparison {
  const { heldoutSeeds, evaluationSeeds } = search;
  const [basis, seeds] =
    heldoutSeeds.length > 0
      ? (['heldout', heldoutSeeds.length] as const)
      : (['evaluation', evaluationSeeds.length] as const);
  return { basis, seeds, leastDifference: leastShown(seeds) };
}

/** The fewest seeds with a bounded interval. */
const leastSeeds = 2;

/** Common seeds that count: those that no search selected on, if there are at least two, or all. */
export type CountedSeeds = 'unselected' | 'all';

export function countedSeeds(
  a: ReadonlyMap<number, unknown>,
  b: ReadonlyMap<number, unknown>,
  isSelected: (seed: number) => boolean,
): CountedSeeds {
  let unselected = 0;
  for (const seed of a.keys()) if (b.has(seed) && !isSelected(seed) && ++unselected >= leastSeeds) return 'unselected';
  return 'all';
}

/** The common seeds that count. */
export function comparedSeeds(
  a: ReadonlyMap<number, unknown>,
  b: ReadonlyMap<number, unknown>,
  isSelected: (seed: number) => boolean,
  counted: CountedSeeds = countedSeeds(a, b, isSelected),
): number[] {
  return [...a.keys()].filter((seed) => b.has(seed) && (counted === 'all' || !isSelected(seed)));
}

/** Compares on the common seeds that count; null: there are none. */
export function compareBySeed(
  a: ReadonlyMap<number, SeedMeans>,
  b: ReadonlyMap<number, SeedMeans>,
  isSelected: (seed: number) => boolean,
): SeedComparison | null {
  const seeds = comparedSeeds(a, b, isSelected);
  if (seeds.length === 0) return null;
  const [rewardsA, rewardsB] = [a, b].map((means) => seeds.map((seed) => means.get(seed)!.reward)) as [
    number[],
    number[],
  ];
  const won = seeds.filter((_, index) => exceeds(rewardsB[index]!, rewardsA[index]!)).length;
  const lost = seeds.filter((_, index) => exceeds(rewardsA[index]!, rewardsB[index]!)).length;
  const verdict = verdictOf(testPaired(rewardsB, rewardsA), {
    basis: seeds.some((seed) => isSelected(seed)) ? 'evaluation' : 'heldout',
    baseline: sampleOf(rewardsA),
    winner: sampleOf(rewardsB),
  });
  const p = pairedVerdictP(rewardsB, rewardsA);
  return { seeds, verdict, p, won, lost, tied: seeds.length - won - lost };
}

/** Means over seeds that all have means, at least one. */
export function sideOf(means: ReadonlyMap<number, SeedMeans>, compared: readonly number[]): ComparedSide {
  const seeds = compared.map((seed) => means.get(seed)!);
  const costs = seeds.flatMap(({ costUsd }) => costUsd ?? []);
  const hasCost = costs.length === seeds.length && seeds.some(({ calls }) => calls > 0);
  const latencies = seeds.flatMap(({ latencyMs }) => latencyMs ?? []).sort((left, right) => left - right);
  const { mean: reward, low, high } = meanInterval(sampleOf(seeds.map(({ reward }) => reward)));
  return {
    reward,
    interval: { low, high },
    costUsd: hasCost ? mean(costs) : null,
    latencyMs:
      latencies.length === 0 ? null : { mean: mean(latencies)!, p50: latencies[Math.ceil(latencies.length / 2) - 1]! },
  };
}
