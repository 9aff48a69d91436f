export interface Bin {
  from: number;
  to: number;
  count: number;
}

/** Rewards in bins of one width, over 0 to 1 and further where rewards are. */
export function histogramOf(rewards: readonly number[], bins = 10): Bin[] {
  const low = rewards.reduce((least, reward) => Math.min(least, reward), 0);
  const high = rewards.reduce((most, reward) => Math.max(most, reward), 1);
  const width = (high - low) / bins;
  const counts = new Array<number>(bins).fill(0);
  for (const reward of rewards) {
    const bin = Math.min(bins - 1, Math.floor((reward - low) / width));
    counts[bin]! += 1;
  }
  return counts.map((count, bin) => ({ from: low + bin * width, to: low + (bin + 1) * width, count }));
}
