/**
 * Statistics for the comparison of candidates. Intervals are of 95 %. A verdict is false of equal
 * sides in at most 2 of 100 cases each way: an interval that shows less reaches 0.
 */
import { regularizedBeta } from './beta.js';
import { fisherP } from './fisher.js';
import { mean, square, sum } from './rewards.js';

/** A mean difference with its 95 % confidence interval. */
export interface Comparison {
  difference: number;
  low: number;
  high: number;
}

/** What a comparison shows of a difference: it counts if the interval excludes 0. */
export type Conclusion = 'better' | 'worse' | 'inconclusive';

export interface Tested extends Comparison {
  /** Rows of each side that would show the difference; null: decided, or none was seen. */
  rowsNeeded: number | null;
}

/** Of a sample: the variance is unbiased, and 0 for fewer than two values. */
export interface Sample {
  count: number;
  mean: number;
  variance: number;
  least: number;
  greatest: number;
}

/** A sample of rewards; of none, all is 0. */
export function sampleOf(values: readonly number[]): Sample {
  const center = mean(values) ?? 0;
  const freedom = values.length - 1;
  const variance = freedom < 1 ? 0 : sum(values.map((value) => square(value - center))) / freedom;
  const { least, greatest } = values.reduce(
    (ends, value) => ({ least: Math.min(ends.least, value), greatest: Math.max(ends.greatest, value) }),
    { least: values[0] ?? 0, greatest: values[0] ?? 0 },
  );
  return { count: values.length, mean: center, variance, least, greatest };
}

/**
 * The mean with its two-sided 95 % interval by Student's t; unbounded for one value
 * (±Number.MAX_VALUE, since JSON has no Infinity).
 */
export function compareToZero({ count, mean: difference, variance }: Sample): Comparison {
  return interval(difference, Math.sqrt(variance / Math.max(1, count)), count - 1);
}

export function conclusionOf({ low, high }: Comparison): Conclusion {
  return low > 0 ? 'better' : high < 0 ? 'worse' : 'inconclusive';
}

/** The chance of a verdict on equal sides, better or worse. */
const bothWays = 0.04;

/** Fewer unequal pairs fall one way by chance more often than the interval allows: 0.5^4. */
const leastUnequal = 5;

/**
 * `left` minus `right`, pair by pair, within what is possible: the one rule of searches, `compare`
 * and gates. Of equal pairs the interval says how many unseen ones may differ. Pairs that all
 * differ alike do not show their variance: one more pair without a difference stands in for it. If
 * the differences have one size, as of right and wrong answers, an exact test decides, too:
 * McNemar's on the pairs that differ (mid-p; Fagerland 2013), or two coins tossed for each pair,
 * which is stronger on few pairs. Differences of several sizes need five pairs that differ.
 */
export function testPaired(left: readonly number[], right: readonly number[]): Tested {
  const differences = differencesOf(left, right);
  const sample = ofPairs(differences);
  if (sample.count > 1 && differences.every((difference) => difference === 0)) return ofEqualPairs(left);
  const rowsNeeded = rowsToShow(sample.mean, sample.variance);
  const comparison = { ...possible(compareToZero(sample), left, right), rowsNeeded };
  return isShown(pairedVerdictP(left, right)) ? comparison : withZero(comparison);
}

/** Whether a p-value is rare enough for a verdict. */
export const isShown = (p: number): boolean => p <= bothWays;

/** The p-value that decides in `testPaired`: the interval excludes 0 if it `isShown`. */
export function pairedVerdictP(left: readonly number[], right: readonly number[]): number {
  const differences = differencesOf(left, right);
  const { count, mean: difference, variance } = ofPairs(differences);
  const unequal = differences.filter((each) => each !== 0);
  if (unequal.length === 0) return 1;
  const [size = 0] = unequal.map(Math.abs);
  const isOneSize = unequal.every((each) => Math.abs(Math.abs(each) - size) <= 1e-9 * size);
  const student = studentP(difference, Math.sqrt(variance / count), count - 1);
  if (!isOneSize) return unequal.length >= leastUnequal ? student : 1;
  const won = unequal.filter((each) => each > 0).length;
  const lost = unequal.length - won;
  const coins = tailOf(2 * count, count + won - lost);
  const exact = Math.min(1, mcNemar(won, lost), 2 * coins.beyond + 2 * coins.at);
  return Math.max(exact, student);
}

const differencesOf = (left: readonly number[], right: readonly number[]) =>
  left.map((value, at) => value - right[at]!);

/** The sample of differences; of equal ones with the variance that one more pair would give. */
function ofPairs(differences: readonly number[]): Sample {
  const sample = sampleOf(differences);
  if (sample.variance !== 0 || sample.count < 2) return sample;
  return { ...sample, variance: standInVariance(sample.mean, sample.count) };
}

/** The variance of `count` equal values and a 0. */
const standInVariance = (value: number, count: number): number => square(value) / (count + 1);

/** Student's two-sided p-value of the difference of pairs, by the variance of `testPaired`. */
export function pairedP(left: readonly number[], right: readonly number[]): number {
  const { count, mean: difference, variance } = ofPairs(differencesOf(left, right));
  return studentP(difference, Math.sqrt(variance / Math.max(1, count)), count - 1);
}

/**
 * Welch's two-sided p-value; where all values of each side are equal, as `testPaired` has it. Right
 * and wrong answers must be as rare by Fisher's test: Welch's is too sure of few of them.
 */
export function unpairedP(left: readonly number[], right: readonly number[]): number {
  const [ours, theirs] = [sampleOf(left), sampleOf(right)];
  const difference = ours.mean - theirs.mean;
  const isUnknown = ours.variance === 0 && theirs.variance === 0;
  const known = (side: Sample) => (isUnknown ? { ...side, variance: standInVariance(difference, side.count) } : side);
  const { error, freedom } = welch(known(ours), known(theirs));
  const student = studentP(difference, error, freedom);
  const [first, ...others] = new Set([...left, ...right]);
  if (others.length !== 1) return student;
  const won = (values: readonly number[]) => values.filter((value) => value === first).length;
  return Math.max(student, fisherP(won(left), left.length, won(right), right.length));
}

function withZero<Interval extends Comparison>(comparison: Interval): Interval {
  return { ...comparison, low: Math.min(0, comparison.low), high: Math.max(0, comparison.high) };
}

/** Two-sided, exact for normal values; 1 without freedom. */
function studentP(difference: number, error: number, freedom: number): number {
  if (freedom <= 0) return 1;
  if (error === 0) return difference === 0 ? 1 : 0;
  const squared = square(difference / error);
  return regularizedBeta(freedom / (freedom + squared), freedom / 2, 1 / 2);
}

/** The rows that an inconclusive test of `count` rows needs; null: it decides, or saw nothing. */
export function rowsToDecide(tested: Tested, count: number): number | null {
  if (conclusionOf(tested) !== 'inconclusive' || tested.rowsNeeded === null) return null;
  return Math.max(tested.rowsNeeded, count + 1);
}

/** Normal quantiles: of `bothWays`, and a chance of 80 % to see the difference. */
const [level, power] = [2.0537, 0.8416];
const mostRows = 1_000_000;

/** Rows that show a difference of this size and variance with a chance of 80 %. */
function rowsToShow(difference: number, variance: number): number | null {
  const rows = Math.ceil(((level + power) / difference) ** 2 * variance);
  return rows >= 1 && rows <= mostRows ? rows : null;
}

/** Where no pair of n differs, at most 1 - 0.025^(1/n) of all do (Clopper and Pearson 1934). */
function ofEqualPairs(rewards: readonly number[]): Tested {
  const { least, greatest } = sampleOf(rewards);
  const range = Math.max(1, greatest) - Math.min(0, least);
  const reach = range * -Math.expm1(Math.log(0.025) / rewards.length);
  return { difference: 0, low: -reach, high: reach, rowsNeeded: null };
}

/** Two-sided mid-p that equal sides win and lose as unevenly; ties tell nothing. */
function mcNemar(won: number, lost: number): number {
  const { beyond, at } = tailOf(won + lost, won);
  return 2 * beyond + at;
}

/** Probabilities that `count` coins fall one way more unevenly than `heads`, and as unevenly. */
function tailOf(count: number, heads: number): { beyond: number; at: number } {
  const fewer = Math.min(heads, count - heads);
  let logWays = -count * Math.LN2;
  let beyond = 0;
  for (let k = 0; k < fewer; k += 1) {
    beyond += Math.exp(logWays);
    logWays += Math.log(count - k) - Math.log(k + 1);
  }
  return { beyond, at: Math.exp(logWays) };
}

/** `left` minus `right` of different seeds, within what is possible. */
export function compareUnpaired(left: readonly number[], right: readonly number[]): Tested {
  const tested = compareIndependent(sampleOf(left), sampleOf(right));
  return { ...tested, ...possible(tested, left, right) };
}

/** Means of values of 0 to 1 differ by -1 to 1. */
function possible(comparison: Comparison, ...values: (readonly number[])[]): Comparison {
  if (!values.flat().every((value) => value >= 0 && value <= 1)) return comparison;
  const { difference, low, high } = comparison;
  return { difference, low: Math.max(-1, low), high: Math.min(1, high) };
}

/**
 * `left` minus `right` for independent samples of different variance, with the two-sided 95 %
 * interval (Welch 1947, with Satterthwaite's degrees of freedom); unbounded if a side has one
 * value.
 */
export function compareIndependent(left: Sample, right: Sample): Tested {
  const difference = left.mean - right.mean;
  const { error, freedom } = welch(left, right);
  if (freedom < 1) return { ...interval(difference, error, freedom), rowsNeeded: null };
  const rowsNeeded = rowsToShow(difference, left.variance + right.variance);
  const comparison = { ...interval(difference, error, freedom), rowsNeeded };
  return isShown(studentP(difference, error, freedom)) ? comparison : withZero(comparison);
}

/** The standard error of a difference of means, and its degrees of freedom; below 1: unknown. */
function welch(left: Sample, right: Sample): { error: number; freedom: number } {
  const least = Math.min(left.count, right.count) - 1;
  if (least < 1) return { error: 0, freedom: least };
  const leftSquared = left.variance / left.count;
  const squaredError = leftSquared + right.variance / right.count;
  // Use shares of the whole: squares of variances could overflow.
  const share = squaredError === 0 ? 0.5 : leftSquared / squaredError;
  const freedom = 1 / (share ** 2 / (left.count - 1) + (1 - share) ** 2 / (right.count - 1));
  // At least the freedom of the smaller side, despite rounding.
  return { error: Math.sqrt(squaredError), freedom: Math.max(least, freedom) };
}

function interval(difference: number, error: number, freedom: number): Comparison {
  if (freedom < 1) return { difference, low: -Number.MAX_VALUE, high: Number.MAX_VALUE };
  const reach = studentT95(freedom) * error;
  return { difference, low: difference - reach, high: difference + reach };
}

const quantiles = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/**
 * The 0.975 quantile of Student's t for at least 1 degree of freedom: from the table, above 10 by
 * the Cornish-Fisher expansion (Abramowitz and Stegun, 26.7.5), exact to three decimals. Between
 * table entries its logarithm is linear in 1 / freedom: exact within 3 %, from 2 on 0.5 %.
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
