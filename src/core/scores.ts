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
  let partials: number[] = [];
  for (const value of values) {
    let carry = value;
    const kept: number[] = [];
    for (const partial of partials) {
      const [large, small] = Math.abs(carry) < Math.abs(partial) ? [partial, carry] : [carry, partial];
      const total = large + small;
      const lost = small - (total - large);
      if (lost !== 0) kept.push(lost);
      carry = total;
    }
    kept.push(carry);
    partials = kept;
  }
  return roundPartials(partials);
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
  const missed = sum([...values, ...values.map(() => -rough)]);
  return rough + missed / values.length;
}

/** The square of a difference of rewards, as it is counted: rewards that somebody made up must not make it Infinity. */
export function square(difference: number): number {
  return Math.min(largestReward, difference * difference);
}

/** Whether `left` is greater than `right` by more than what the rounding of decimal rewards can feign (1e-12 of either). */
export function exceeds(left: number, right: number): boolean {
  return left - right > 1e-12 * Math.max(Math.abs(left), Math.abs(right));
}
