/**
 * A sequential two-sample test: whether a child's rewards are better than a control's, checked
 * after any pair, with exact error rates for any scale of rewards.
 *
 * X_j and Y_j are the j-th rewards of child and control, from rollouts randomly assigned in the
 * same period; D = X - Y. If both have the same distribution, D is symmetric about 0, also given
 * its absolute value. Then for each l, exp(l S - l^2 V / 2), with S the sum of all D and V the sum
 * of their squares, is a supermartingale that begins at 1 (de la Peña 1999, Annals of Probability
 * 27(1); since cosh x <= exp(x^2 / 2)). So is its mean over l > 0 with a half-normal weight of
 * scale r:
 *
 * e = 2 Phi(a) exp(a^2 / 2) / sqrt(1 + r^2 V)   with   a = r S / sqrt(1 + r^2 V)
 *
 * By Ville's inequality it ever reaches 1/p with a probability of at most p. The child is accepted
 * when e >= 1 / 0.05, and rejected as worse when e with -S for S reaches 1 / 0.2. Drift of traffic
 * does no harm: each pair must be symmetric, not all pairs have the same distribution.
 *
 * "No better" means: for rewards of two values, a mean that is no greater; for graded rewards, the
 * same distribution, or stochastically smaller. It does NOT mean the mean alone: of two skewed
 * distributions with the same mean one is accepted more often. Measured, up to 200 pairs: 6.9 % if
 * the control's rewards are exponential and the child's all at their mean, 0.3 % the other way
 * round.
 *
 * Measured (20,000 comparisons each, `unit` from 30 rewards of the control) for normal rewards, yes
 * or no of 0.5, and yes or no of 0.2; gains in standard deviations of the control:
 * - equal: 2.0, 2.3, 1.7 % accepted in 200 pairs, at most 2.9 % in 1,000;
 * - worse by 0.3: 0.0 % accepted, 85, 87, 94 % rejected before 200 pairs, after 90 on average;
 * - better by 1: median 21, 17, 24 pairs; by 0.5: 58, 52, 71 pairs; by 0.3: 146, 137, 176 pairs.
 */

/** The greatest probabilities to accept a child that is no better, and to reject one no worse. */
export const errorRates = { accept: 0.05, reject: 0.2 } as const;

/**
 * The scale of the weights, in standard deviations of the control: 0.2 to 0.4 needed the fewest
 * pairs for gains of 0.3 to 1 (simulated).
 */
const weightScale = 0.3;

/** Differences are clamped to ±this, which keeps symmetry: squares must not become Infinity. */
const largestDifference = 1e100;

/** A running test; plain JSON of bounded size. */
export interface SequentialTest {
  /** The divisor of differences: 1/r above. Fixed before the test sees a pair. */
  unit: number;
  pairs: number;
  /** S and V above, in `unit`. */
  sum: number;
  squares: number;
}

/** Rewards of child and control. */
export type RewardPair = readonly [child: number, control: number];

/** `deviation`: the standard deviation of earlier control rewards, 0 if unknown. */
export function openTest(deviation: number): SequentialTest {
  return { unit: deviation > 0 ? deviation / weightScale : 1, pairs: 0, sum: 0, squares: 0 };
}

export function addPairs(test: SequentialTest, pairs: readonly RewardPair[]): SequentialTest {
  let { sum, squares } = test;
  for (const [child, control] of pairs) {
    const difference = (child - control) / test.unit;
    const counted = Math.max(-largestDifference, Math.min(largestDifference, difference));
    sum += counted;
    squares += counted * counted;
  }
  return { ...test, pairs: test.pairs + pairs.length, sum, squares };
}

/** `not_better`: undecided at the horizon; null: the test continues. */
export type TestVerdict = 'better' | 'worse' | 'not_better' | null;

/** The verdict on the child after these pairs; the test ends after `horizon` pairs. */
export function judgeTest(
  { pairs, sum, squares }: SequentialTest,
  horizon: number,
  rates: { accept: number; reject: number } = errorRates,
): TestVerdict {
  // A sum of the other sign is no evidence: there e is at most 1.
  if (sum > 0 && logEvidence(sum, squares) >= -Math.log(rates.accept)) return 'better';
  if (sum < 0 && logEvidence(-sum, squares) >= -Math.log(rates.reject)) return 'worse';
  return pairs >= horizon ? 'not_better' : null;
}

/**
 * A lower bound of log e, so that the error rates hold, from bounds of Mills' ratio (1 - Phi) /
 * phi: from above (Sampford 1953, Annals of Mathematical Statistics 24), for a negative sum from
 * below (Birnbaum 1942, ibid. 13). Its error is less than 0.001 where the test decides.
 */
export function logEvidence(sum: number, squares: number): number {
  const a = sum / Math.sqrt(1 + squares);
  const density = (size: number) => Math.exp((-size * size) / 2) / Math.sqrt(2 * Math.PI);
  const spread = Math.log1p(squares) / 2;
  if (a < 0) return Math.log(4 * density(0)) - Math.log(Math.sqrt(4 + a * a) - a) - spread;
  const above = (4 * density(a)) / (3 * a + Math.sqrt(8 + a * a));
  return Math.LN2 + Math.log1p(-above) + (a * a) / 2 - spread;
}
