/**
 * How often latencies fell into buckets whose bounds grow by a constant factor, from which every quantile follows within
 * `relativeError` (DDSketch: Masson, Rim and Lee 2019, PVLDB 12(12), section 2). Counts of two sketches add up to that of both.
 */

/** A quantile is off by at most this part of it, of latencies within the bounds. */
export const relativeError = 0.01;

/** Milliseconds. What is below the least counts as the least, what is above the most as the most (28 hours). */
const least = 0.01;
const most = 1e8;

const growth = (1 + relativeError) / (1 - relativeError);

/** Counts by bucket; JSON. There are 1,153 buckets within the bounds. */
export type LatencyCounts = Record<string, number>;

/** The number of the bucket that a latency of so many milliseconds is in: the i-th ends with `growth` to the i-th, inclusive. */
export function bucketOf(ms: number): number {
  return Math.ceil(Math.log(Math.min(most, Math.max(least, ms))) / Math.log(growth));
}

/** Counts a latency of so many milliseconds, in place. */
export function addLatency(counts: LatencyCounts, ms: number): void {
  const bucket = bucketOf(ms);
  counts[bucket] = (counts[bucket] ?? 0) + 1;
}

/** The least latency, in milliseconds, that a part `q` (0 to 1) of all is not above; null: there is none. */
export function quantile(counts: LatencyCounts, q: number): number | null {
  const buckets = Object.keys(counts).map(Number);
  buckets.sort((left, right) => left - right);
  const total = buckets.reduce((sum, bucket) => sum + counts[bucket]!, 0);
  let seen = 0;
  for (const bucket of buckets) {
    seen += counts[bucket]!;
    // Off by the same part from either end of the bucket.
    if (seen >= q * total) return (2 * growth ** bucket) / (growth + 1);
  }
  return null;
}
