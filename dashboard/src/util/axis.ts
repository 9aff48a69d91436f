/** Ranges and sizes of the axes of charts. */

/** The range of rewards: 0 to 1, and further where rewards are. */
export function rewardRange(low: number | null, high: number | null): [number, number] {
  const [least, most] = [Math.min(0, low ?? 0), Math.max(1, high ?? 1)];
  const room = (most - least) * 0.05;
  return [least < 0 ? least - room : 0, most > 1 ? most + room : 1];
}

const letterWidth = 7;

/** The width of the longest of some labels of 12 px, with its gap to the axis. */
export function labelWidth(labels: readonly (string | number | null)[] | null): number {
  return 22 + letterWidth * Math.max(3, ...(labels ?? []).map((label) => String(label ?? '').length));
}
