/** The `p`-th percentile (0 to 100) by nearest rank, of unsorted values. Throws without values. */
export function percentile(values: readonly number[], p: number): number {
  if (values.length === 0) throw new RangeError('a percentile needs values');
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)]!;
}

/** The median; of an even count, the mean of the middle two. Throws without values. */
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

/** Median, minimum and maximum of repeated runs. */
export interface Spread {
  median: number;
  least: number;
  greatest: number;
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), greatest: Math.max(...values) };
}

/** The mean. Throws without values. */
export function mean(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('a mean needs values');
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The slope of a line through points by least squares, and its standard error. */
export function slope(points: readonly (readonly [x: number, y: number])[]): {
  perUnit: number;
  standardError: number;
} {
  if (points.length < 3) throw new RangeError('a slope needs three points');
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const spreadX = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  const perUnit = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spreadX;
  const rest = points.reduce((sum, [at, value]) => sum + (value - y - perUnit * (at - x)) ** 2, 0);
  return { perUnit, standardError: Math.sqrt(rest / (points.length - 2) / spreadX) };
}
