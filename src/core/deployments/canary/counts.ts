/** Counts of the requests of one version. */
import type { LatencyCounts } from '../../math/latency-sketch.js';

/** Values of a metric; `distances`: the sum of their squared distances from the mean. */
export interface MetricSum {
  count: number;
  mean: number;
  distances: number;
}

/** Totals that only grow. */
export interface VersionCounts {
  requests: number;
  errors: number;
  /** Of answered requests. */
  latencies: LatencyCounts;
  /** Requests of known cost, their dollars, and the sum of the squares. */
  priced: number;
  costUsd: number;
  costSquares: number;
  metrics: Record<string, MetricSum>;
}

export const noCounts: VersionCounts = {
  requests: 0,
  errors: 0,
  latencies: {},
  priced: 0,
  costUsd: 0,
  costSquares: 0,
  metrics: {},
};

/** What was counted since an earlier time. */
export function countsSince(now: VersionCounts, before: VersionCounts): VersionCounts {
  const [latencies, metrics] = [{ ...now.latencies }, { ...now.metrics }];
  for (const [bucket, count] of Object.entries(before.latencies)) {
    const left = (latencies[bucket] ?? 0) - count;
    if (left > 0) latencies[bucket] = left;
    else delete latencies[bucket];
  }
  for (const [metric, sum] of Object.entries(before.metrics)) {
    const all = metrics[metric];
    if (all) metrics[metric] = metricSince(all, sum);
  }
  const less = (field: 'requests' | 'errors' | 'priced' | 'costUsd' | 'costSquares') =>
    Math.max(0, now[field] - before[field]);
  return {
    requests: less('requests'),
    errors: less('errors'),
    latencies,
    priced: less('priced'),
    costUsd: less('costUsd'),
    costSquares: less('costSquares'),
    metrics,
  };
}

/** The later part of values, by the formula of Chan, Golub and LeVeque (1979). */
function metricSince(all: MetricSum, before: MetricSum): MetricSum {
  const count = all.count - before.count;
  if (count <= 0) return { count: 0, mean: 0, distances: 0 };
  const mean = (all.mean * all.count - before.mean * before.count) / count;
  const between = ((mean - before.mean) ** 2 * count * before.count) / all.count;
  return { count, mean, distances: Math.max(0, all.distances - before.distances - between) };
}
