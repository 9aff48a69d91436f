/**
 * Whether the new version is beyond a bound, by more than chance explains. A guard is looked at
 * when the requests of the new version in a step have doubled. Steps, guards and looks share
 * `falseDecisions.rollBackByGuards`: look k has 2^-k of the part of its guard and step.
 */
import { quantiles, relativeError, type LatencyCounts } from '../../math/latency-sketch.js';
import type { MetricSum, VersionCounts } from './counts.js';
import { falseDecisions, type GuardPlan } from './plan.js';

/** Requests of the new version in a step at the first look; doubled with each further one. */
const firstLook = 10;
/** The fewest values of each version for a comparison of means. */
const leastValues = 20;

/** The requests at which a guard is looked at after `looks` looks. */
export const nextLookAt = (looks: number): number => firstLook * 2 ** looks;

export interface GuardFinding {
  /** `error_rate`, `p95_latency`, `cost`, or the name of a metric as `metrics.NAME`. */
  guard: string;
  /** Of the live version and of the new one; latencies in milliseconds, costs in dollars. */
  live: number;
  canary: number;
  /** The value from which the new version is beyond the bound. */
  bound: number;
  isBeyond: boolean;
}

/** Finds what is measured of each guard; `steps`: those of the canary, `looks`: earlier ones. */
export function lookAtGuards(
  plan: GuardPlan,
  { live, canary }: { live: VersionCounts; canary: VersionCounts },
  { steps, looks }: { steps: number; looks: number },
): GuardFinding[] {
  const metrics = Object.entries(plan.metrics).flatMap(([name, bounds]) => metricGuards(name, bounds));
  const guards = [errorGuard(plan), latencyGuard(plan), costGuard(plan), ...metrics].filter((guard) => guard !== null);
  const chance = falseDecisions.rollBackByGuards / Math.max(1, steps) / Math.max(1, guards.length) / 2 ** (looks + 1);
  // Chernoff's bound of the normal tail: wider than its quantile, since samples may be small.
  const deviations = Math.sqrt(-2 * Math.log(chance));
  return guards.map((guard) => guard({ live, canary }, deviations)).filter((finding) => finding !== null);
}

type Guard = (counts: { live: VersionCounts; canary: VersionCounts }, deviations: number) => GuardFinding | null;

function errorGuard({ errorRate }: GuardPlan): Guard | null {
  if (!errorRate) return null;
  return ({ live, canary }, deviations) => {
    if (canary.requests === 0 || live.requests === 0) return null;
    const [own, others] = [shareOf(canary.errors, canary.requests), shareOf(live.errors, live.requests)];
    const { maxIncrease } = errorRate;
    const isBeyond = leastIncrease(own, others, deviations) > maxIncrease;
    return { guard: 'error_rate', live: others.share, canary: own.share, bound: others.share + maxIncrease, isBeyond };
  };
}

/** Compares how many requests are slower than the live version's percentile, and its multiple. */
function latencyGuard({ p95Latency }: GuardPlan): Guard | null {
  if (!p95Latency) return null;
  return ({ live, canary }, deviations) => {
    const [[usual], [own]] = [quantiles(live.latencies, [0.95]), quantiles(canary.latencies, [0.95])];
    if (usual == null || own == null) return null;
    const bound = usual * p95Latency.maxRatio;
    const slower = leastIncrease(slowerThan(canary.latencies, bound), slowerThan(live.latencies, usual), deviations);
    return { guard: 'p95_latency', live: usual, canary: own, bound, isBeyond: slower > 0 };
  };
}

function costGuard({ cost }: GuardPlan): Guard | null {
  if (!cost) return null;
  return ({ live, canary }, deviations) => {
    const [own, usual] = [costsOf(canary), costsOf(live)];
    if (own.count < leastValues || usual.count < leastValues) return null;
    const bound = usual.mean * cost.maxRatio;
    const error = Math.sqrt(varianceOfMean(own) + cost.maxRatio ** 2 * varianceOfMean(usual));
    const isBeyond = own.mean - bound > deviations * error;
    return { guard: 'cost', live: usual.mean, canary: own.mean, bound, isBeyond };
  };
}

function metricGuards(name: string, { maxDecrease, maxIncrease }: GuardPlan['metrics'][string]): Guard[] {
  return [
    ...(maxDecrease === null ? [] : [metricGuard(name, -1, maxDecrease)]),
    ...(maxIncrease === null ? [] : [metricGuard(name, 1, maxIncrease)]),
  ];
}

function metricGuard(name: string, sign: 1 | -1, most: number): Guard {
  return ({ live, canary }, deviations) => {
    const own = Object.hasOwn(canary.metrics, name) ? canary.metrics[name]! : null;
    const usual = Object.hasOwn(live.metrics, name) ? live.metrics[name]! : null;
    if (!own || !usual || own.count < leastValues || usual.count < leastValues) return null;
    const error = Math.sqrt(varianceOfMean(own) + varianceOfMean(usual));
    const isBeyond = sign * (own.mean - usual.mean) - most > deviations * error;
    return { guard: `metrics.${name}`, live: usual.mean, canary: own.mean, bound: usual.mean + sign * most, isBeyond };
  };
}

const varianceOfMean = ({ count, distances }: MetricSum) => distances / Math.max(1, count - 1) / count;

function costsOf({ priced, costUsd, costSquares }: VersionCounts): MetricSum {
  const mean = costUsd / Math.max(1, priced);
  return { count: priced, mean, distances: Math.max(0, costSquares - priced * mean * mean) };
}

interface Share {
  share: number;
  count: number;
}

const shareOf = (part: number, count: number): Share => ({ share: part / Math.max(1, count), count });

/** The share of latencies above a bound, without those that may be within it. */
function slowerThan(latencies: LatencyCounts, bound: number): Share {
  let [slower, count] = [0, 0];
  for (const [bucket, requests] of Object.entries(latencies)) {
    count += requests;
    const [middle] = quantiles({ [bucket]: 1 }, [0.5]);
    if (middle! > bound * (1 + relativeError)) slower += requests;
  }
  return shareOf(slower, count);
}

/** The lower end of the interval for a difference of shares (Newcombe 1998, method 10). */
function leastIncrease(own: Share, others: Share, deviations: number): number {
  const [{ low }, { high }] = [wilson(own, deviations), wilson(others, deviations)];
  return own.share - others.share - Math.hypot(own.share - low, high - others.share);
}

/** The interval of a share (Wilson 1927). */
function wilson({ share, count }: Share, deviations: number): { low: number; high: number } {
  const squared = deviations ** 2;
  const center = (share * count + squared / 2) / (count + squared);
  const reach = (deviations * Math.sqrt(share * (1 - share) * count + squared / 4)) / (count + squared);
  return { low: Math.max(0, center - reach), high: Math.min(1, center + reach) };
}
