/** Small statistics for comparing candidates. */
import { mean, square, sum } from './scores.js';

/** A mean difference with its 95 % confidence interval. */
export interface Comparison {
  difference: number;
  low: number;
  high: number;
}

/**
 * `left` less `right`, pair by pair: their mean difference and its two-sided 95 % interval by Student's t. Of one pair the
 * interval is unbounded but for what a reward can be: it answers ±Infinity as the largest number there is.
 */
export function comparePaired(left: readonly number[], right: readonly number[]): Comparison {
  const differences = left.map((value, at) => value - right[at]!);
  const difference = mean(differences) ?? 0;
  const freedom = differences.length - 1;
  if (freedom < 1) return { difference, low: -Number.MAX_VALUE, high: Number.MAX_VALUE };
  const variance = sum(differences.map((one) => square(one - difference))) / freedom;
  const reach = studentT95(freedom) * Math.sqrt(variance / differences.length);
  return { difference, low: difference - reach, high: difference + reach };
}

const quantiles = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/**
 * The 0.975 quantile of Student's t: from the table for up to 10 degrees of freedom, beyond by the Cornish-Fisher expansion
 * (Abramowitz and Stegun, 26.7.5), which is right to three decimals there.
 */
export function studentT95(freedom: number): number {
  const tabled = quantiles[freedom - 1];
  if (tabled !== undefined) return tabled;
  const z = 1.959963984540054;
  const z3 = z * z * z;
  const z5 = z3 * z * z;
  const z7 = z5 * z * z;
  const first = (z3 + z) / 4;
  const second = (5 * z5 + 16 * z3 + 3 * z) / 96;
  const third = (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384;
  return z + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}
