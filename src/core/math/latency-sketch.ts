/**
 * Counts of latencies in buckets whose bounds grow by a constant factor; quantiles are within
 * `relativeError` (DDSketch: Masson, Rim and Lee 2019, PVLDB 12(12), section 2). Counts add up.
 */

/** The largest relative error of a quantile, for latencies within the bounds. */
export const relativeError = 0.01;

/** Bounds in milliseconds (the upper is 28 hours); latencies outside are clamped. */
const least = 0.01;
const most = 1e8;

const growth = (1 + relativeError) / (1 - relativeError);

/** Counts by bucket, as JSON; the bounds contain 1,153 buckets. */
export type LatencyCounts = Record<string, number>;

/** The bucket of a latency; bucket i ends with `growth` to the power i, inclusive. */
export function bucketOf(ms: number): number {
  return Math.ceil(Math.log(Math.min(most, Math.max(least, ms))) / Math.log(growth));
}

export function addLatency(counts: LatencyCounts, ms: number): void {
  const bucket = bucketOf(ms);
  counts[bucket] = (counts[bucket] ?? 0) + 1;
}

/** Quantiles (0 to 1, ascending) in milliseconds; null without latencies. */
export function quantiles(counts: LatencyCounts, wanted: readonly number[]): (number | null)[] {
  const buckets = Object.keys(counts).map(Number);
  buckets.sort((left, right) => left - right);
  const total = buckets.reduce((sum, bucket) => sum + counts[bucket]!, 0);
  let [at, seen] = [0, 0];
  return wanted.map((q) => {
    while (at < buckets.length && seen + counts[buckets[at]!]! < q * total) seen += counts[buckets[at++]!]!;
    const bucket = buckets[at];
    // The point with the same relative error to both ends of the bucket.
    return bucket === undefined ? null : (2 * growth ** bucket) / (growth + 1);
  });
}
