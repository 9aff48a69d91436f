/** Corrections of p-values for several comparisons. */

/**
 * Holm's correction (1979), in the order of the p-values: to call a comparison with at most `level`
 * a difference keeps the chance of any false one among them within `level`.
 */
export function holm(ps: readonly number[]): number[] {
  const ascending = ps.map((_, at) => at).sort((left, right) => ps[left]! - ps[right]!);
  const corrected = ps.map(() => 1);
  let most = 0;
  for (const [rank, at] of ascending.entries()) {
    most = Math.max(most, Math.min(1, (ps.length - rank) * ps[at]!));
    corrected[at] = most;
  }
  return corrected;
}
