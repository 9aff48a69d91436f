/**
 * Sums and means of rewards. Invariants: a sum does not depend on the order of its values and is
 * never -0; 10,000 normalized rewards do not overflow. So equal answers give equal runs.
 */

/** Rewards are clamped to ±this. */
export const largestReward = 1e300;

/** The reward within ±`largestReward`, and 0 instead of -0. */
export function normalizeReward(reward: number): number {
  return Math.min(largestReward, Math.max(-largestReward, reward)) + 0;
}

/**
 * The sum with a single rounding (Shewchuk 1997, "Adaptive precision floating-point arithmetic").
 */
export function sum(values: readonly number[]): number {
  return sumWithoutRounding(values) ?? sumExactly(values);
}

/** The sum if no addition rounds, as with most rewards; else null. */
function sumWithoutRounding(values: readonly number[]): number | null {
  let total = 0;
  for (const value of values) {
    const before = total;
    total += value;
    const added = total - before;
    // Knuth's two-sum; NaN after an overflow.
    if (before - (total - added) + (value - added) !== 0) return null;
  }
  return total + 0;
}

function sumExactly(values: readonly number[]): number {
  const partials: number[] = [];
  for (const value of values) add(partials, value);
  return roundPartials(partials);
}

/** Adds to non-overlapping partials, in place. */
function add(partials: number[], value: number): void {
  let carry = value;
  let kept = 0;
  for (const partial of partials) {
    const isLarger = Math.abs(carry) >= Math.abs(partial);
    const large = isLarger ? carry : partial;
    const small = isLarger ? partial : carry;
    const total = large + small;
    const lost = small - (total - large);
    // Overwrites only partials that were read before.
    if (lost !== 0) partials[kept++] = lost;
    carry = total;
  }
  partials[kept++] = carry;
  if (kept < partials.length) partials.length = kept;
}

/** Adds non-overlapping partials, ascending; the last rounding is half to even. */
function roundPartials(partials: number[]): number {
  let total = 0;
  let lost = 0;
  let at = partials.length;
  while (at > 0 && lost === 0) {
    const partial = partials[--at]!;
    const before = total;
    total = before + partial;
    lost = partial - (total - before);
  }
  const rest = at > 0 ? partials[at - 1]! : 0;
  if (lost !== 0 && Math.sign(lost) === Math.sign(rest)) {
    const twice = lost * 2;
    const rounded = total + twice;
    if (rounded - total === twice) return rounded;
  }
  return total + 0;
}

/** The mean of normalized rewards; null without any. The mean of equal values is that value. */
export function mean(rewards: readonly number[]): number | null {
  if (rewards.length === 0) return null;
  const total = sumWithoutRounding(rewards);
  const simple = total === null ? null : meanOfExactSum(total, rewards.length);
  return simple ?? meanExactly(rewards.map(normalizeReward));
}

/** Null where `count * float` may round: outside the range of a 32-bit float. */
function meanOfExactSum(total: number, count: number): number | null {
  const rough = total / count;
  const size = Math.abs(rough);
  if (rough !== 0 && !(size > 1e-30 && size < 1e30 && count < 2 ** 20)) return null;
  const high = Math.fround(rough);
  // All three products and the first difference are exact.
  return rough + (total - count * high - count * (rough - high)) / count;
}

function meanExactly(values: readonly number[]): number {
  const rough = sum(values) / values.length;
  // Two roundings would make 0.4000000000000001 of six times 0.4: add the exact rest.
  const partials: number[] = [];
  for (const value of values) {
    add(partials, value);
    add(partials, -rough);
  }
  const missed = roundPartials(partials);
  return rough + missed / values.length;
}

/** A rollout with at least this reward has nothing left to learn from. */
export const solvedReward = 1;

/** Whether a reward is at least `solvedReward`, up to rounding. */
export function isSolved(reward: number): boolean {
  return reward >= solvedReward - 1e-9;
}

/** The square of a difference of rewards, clamped: extreme rewards must not make it Infinity. */
export function square(difference: number): number {
  return Math.min(largestReward, difference * difference);
}

/** Whether `left` is greater by more than rounding of decimal rewards (1e-12 of either). */
export function exceeds(left: number, right: number): boolean {
  return left - right > 1e-12 * Math.max(Math.abs(left), Math.abs(right));
}
