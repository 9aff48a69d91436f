/**
 * The mean of a sample of rows, and the interval for the mean of all rows of the same kind, unseen
 * ones included: Gaffke's bound for means of bounded values (Gaffke 2005, Mathematical Methods of
 * Statistics 14(4); Learned-Miller and Thomas 2019, arXiv:1905.06208), 2.5 % at each end.
 *
 * The lower end is the 0.025 quantile of a mean of all values and the lower end of their range,
 * with weights of Dirichlet(1, …, 1). Of right and wrong answers that is the interval of Clopper
 * and Pearson (Biometrika 26, 1934). In general the quantile is that of the Beta distribution with
 * the same mean and variance between the ends, which is exact for two values.
 */
import { betaQuantile } from './beta.js';
import type { Sample } from './statistics.js';

export interface Interval {
  low: number;
  high: number;
}

/** A mean with its 95 % interval. */
export interface IntervalOfMean extends Interval {
  mean: number;
}

/** Values may be of 0 to 1, or as far as the sample shows; `range` says otherwise. */
export function meanInterval(sample: Sample, range: Interval = rangeOf(sample)): IntervalOfMean {
  const { count, mean, variance, least, greatest } = sample;
  if (count === 0) return { mean, ...range };
  const low = range.low + lowerReach(count, mean - range.low, variance, greatest - range.low);
  const high = range.high - lowerReach(count, range.high - mean, variance, range.high - least);
  return { mean, low: Math.min(mean, low), high: Math.max(mean, high) };
}

/** The interval if the rows of a mean were right and wrong answers, the widest for that mean. */
export function widestInterval(mean: number, count: number): IntervalOfMean {
  const range = { low: Math.min(0, mean), high: Math.max(1, mean) };
  const variance = ((mean - range.low) * (range.high - mean) * count) / Math.max(1, count - 1);
  return meanInterval({ count, mean, variance, least: range.low, greatest: range.high }, range);
}

function rangeOf({ least, greatest }: Sample): Interval {
  return { low: Math.min(0, least), high: Math.max(1, greatest) };
}

/** The lower end above the end of the range, for values up to `top` above it. */
function lowerReach(count: number, mean: number, variance: number, top: number): number {
  if (mean <= 0 || top <= 0) return 0;
  const center = ((mean / top) * count) / (count + 1);
  const own = (Math.max(0, count - 1) * (variance / top)) / top;
  const squares = own + ((mean / top) ** 2 * count) / (count + 1);
  // Values between 0 and 1 of this mean vary at most this much.
  const spread = Math.min(squares / (count + 1), center * (1 - center));
  const weight = (center * (1 - center) * (count + 2)) / spread - 1;
  return top * betaQuantile(0.025, center * weight, (1 - center) * weight);
}
