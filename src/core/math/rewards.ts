/**
 * Sums and means of rewards. Invariants: a sum does not depend on the order of what is summed and is never -0; a
 * normalized reward can be summed 10,000 times without overflow. Otherwise two runs with the same answers, or a state
 * before and after JSON, could differ.
 */

/** Rewards beyond this count as this. */
export const largestReward = 1e300;

/** A reward as it is counted: within ±`largestReward`, and 0 rather than -0. */
export function normalizeReward(reward: number): number {
  return Math.min(largestReward, Math.max(-largestReward, reward)) + 0;
}

/** The sum, exact but for one final rounding (Shewchuk 1997, "Adaptive precision floating-point arithmetic", as `fsum`). */
export function sum(values: readonly number[]): number {
  const partials: number[] = [];
  for (const value of values) add(partials, value);
  return roundPartials(partials);
}

/** Adds a value to partials that do not overlap, in place: sums are most of what a long search computes. */
function add(partials: number[], value: number): void {
  let carry = value;
  let kept = 0;
  for (const partial of partials) {
    const isLarger = Math.abs(carry) >= Math.abs(partial);
    const large = isLarger ? carry : partial;
    const small = isLarger ? partial : carry;
    const total = large + small;
    const lost = small - (total - large);
    // What is written over was looked at before.
    if (lost !== 0) partials[kept++] = lost;
    carry = total;
  }
  partials[kept++] = carry;
  if (kept < partials.length) partials.length = kept;
}

/** Adds partials that do not overlap, smallest first in the list, with the last rounding half to even. */
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

/** The arithmetic mean of normalized rewards, or null of nothing. The mean of equal values is that value. */
export function mean(rewards: readonly number[]): number | null {
  if (rewards.length === 0) return null;
  const values = rewards.map(normalizeReward);
  const rough = sum(values) / values.length;
  // Rounded twice, six times 0.4 would make 0.4000000000000001. What the quotient missed is summed exactly, and added.
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

/** Whether a reward is `solvedReward` or more, but for rounding. */
export function isSolved(reward: number): boolean {
  return reward >= solvedReward - 1e-9;
}

/** The square of a difference of rewards, as it is counted: rewards that somebody made up must not make it Infinity. */
export function square(difference: number): number {
  return Math.min(largestReward, difference * difference);
}

/** Whether `left` is greater than `right` by more than what the rounding of decimal rewards can feign (1e-12 of either). */
export function exceeds(left: number, right: number): boolean {
  return left - right > 1e-12 * Math.max(Math.abs(left), Math.abs(right));
}
