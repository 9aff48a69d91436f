/** The `p`-th percentile (0 to 100) by the nearest rank; the input need not be sorted. Throws on no values. */
export function percentile(values: readonly number[], p: number): number {
  if (values.length === 0) throw new RangeError('no values to take a percentile of');
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)]!;
}

/** The median: of an even number of values the mean of the middle two. Throws on no values. */
export function median(values: readonly number[]): number {
  return (
    (percentile(values, 50) +
      -percentile(
        values.map((value) => -value),
        50,
      )) /
    2
  );
}

/** Median, least and greatest of some runs of the same thing. */
export interface Spread {
  median: number;
  least: number;
  greatest: number;
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), greatest: Math.max(...values) };
}

/** The mean. Throws on no values. */
export function mean(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('no values to take a mean of');
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
