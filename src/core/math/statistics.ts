/** Small statistics for comparing candidates. */
import { mean, square, sum } from './rewards.js';

/** A mean difference with its 95 % confidence interval. */
export interface Comparison {
  difference: number;
  low: number;
  high: number;
}

/** What is kept of a sample: its size, its mean and the unbiased estimate of the variance (0 of fewer than two). */
export interface Sample {
  count: number;
  mean: number;
  variance: number;
}

/** A sample of rewards; the mean of none is 0. */
export function sampleOf(values: readonly number[]): Sample {
  const center = mean(values) ?? 0;
  const freedom = values.length - 1;
  const variance = freedom < 1 ? 0 : sum(values.map((one) => square(one - center))) / freedom;
  return { count: values.length, mean: center, variance };
}

/**
 * A sample's mean as a difference from 0, and its two-sided 95 % interval by Student's t. Of one value the interval is
 * unbounded but for what a reward can be: it answers ±Infinity as the largest number there is.
 */
export function compareToZero({ count, mean: difference, variance }: Sample): Comparison {
  return interval(difference, Math.sqrt(variance / Math.max(1, count)), count - 1);
}

/** `left` less `right`, pair by pair: `compareToZero` of their differences. */
export function comparePaired(left: readonly number[], right: readonly number[]): Comparison {
  return compareToZero(sampleOf(left.map((value, at) => value - right[at]!)));
}

/**
 * `left` less `right`, two independent samples that may have different variances: the difference of their means and its
 * two-sided 95 % interval (Welch 1947, with Satterthwaite's degrees of freedom). With fewer than two values on a side the
 * interval is as unbounded as in `compareToZero`.
 */
export function compareIndependent(left: Sample, right: Sample): Comparison {
  const difference = left.mean - right.mean;
  const least = Math.min(left.count, right.count) - 1;
  if (least < 1) return interval(difference, 0, least);
  const ofLeft = left.variance / left.count;
  const ofBoth = ofLeft + right.variance / right.count;
  // By shares of the whole: the squares of variances could overflow.
  const share = ofBoth === 0 ? 0.5 : ofLeft / ofBoth;
  const freedom = 1 / (share ** 2 / (left.count - 1) + (1 - share) ** 2 / (right.count - 1));
  // Never below that of the smaller side, but for rounding.
  return interval(difference, Math.sqrt(ofBoth), Math.max(least, freedom));
}

function interval(difference: number, error: number, freedom: number): Comparison {
  if (freedom < 1) return { difference, low: -Number.MAX_VALUE, high: Number.MAX_VALUE };
  const reach = studentT95(freedom) * error;
  return { difference, low: difference - reach, high: difference + reach };
}

const quantiles = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/**
 * The 0.975 quantile of Student's t for any degrees of freedom from 1 on: from the table for up to 10, beyond by the
 * Cornish-Fisher expansion (Abramowitz and Stegun, 26.7.5), which is right to three decimals there. Between two tabled ones
 * its logarithm is taken as linear in 1 / freedom: right within 3 %, from 2 on within 0.5 %.
 */
export function studentT95(freedom: number): number {
  const whole = Math.floor(freedom);
  const tabled = quantiles[whole - 1];
  if (tabled !== undefined && freedom === whole) return tabled;
  const following = quantiles[whole];
  if (tabled !== undefined && following !== undefined) {
    const share = (1 / whole - 1 / freedom) / (1 / whole - 1 / (whole + 1));
    return tabled * (following / tabled) ** share;
  }
  const z = 1.959963984540054;
  const z3 = z * z * z;
  const z5 = z3 * z * z;
  const z7 = z5 * z * z;
  const first = (z3 + z) / 4;
  const second = (5 * z5 + 16 * z3 + 3 * z) / 96;
  const third = (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384;
  return z + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}
