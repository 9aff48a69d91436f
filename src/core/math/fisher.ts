/**
 * Fisher's exact test of two shares (Fisher 1935), two-sided: the chance of a table at most as
 * likely as the one seen, where all tables have its sums. Never too small.
 */
export function fisherP(won: number, count: number, otherWon: number, otherCount: number): number {
  const wins = won + otherWon;
  const [least, most] = [Math.max(0, wins - otherCount), Math.min(count, wins)];
  const logs = [0];
  for (let k = least; k < most; k += 1) {
    const ratio = ((count - k) / (k + 1)) * ((wins - k) / (otherCount - wins + k + 1));
    logs.push(logs.at(-1)! + Math.log(ratio));
  }
  const top = logs.reduce((greatest, log) => Math.max(greatest, log), 0);
  const chances = logs.map((log) => Math.exp(log - top));
  // Equal chances may differ by rounding.
  const seen = chances[won - least]! * (1 + 1e-9);
  const total = (sum: number, chance: number) => sum + chance;
  return Math.min(1, chances.filter((chance) => chance <= seen).reduce(total, 0) / chances.reduce(total, 0));
}
