/** What one side has of a seed. */
export interface SideRow {
  seed: number;
  /** Mean of the succeeded rollouts; null: all failed. */
  reward: number | null;
  /** The last rollout. */
  traceId: string;
  /** Of a search; those of an evaluation are read as rows come into view. */
  texts: { input: string | null; answer: string | null; feedback: string | null } | null;
}

export type Outcome = 'won' | 'lost' | 'tied';

export interface Pair {
  seed: number;
  a: SideRow;
  b: SideRow;
  aReward: number;
  bReward: number;
  difference: number;
  /** Of b. */
  outcome: Outcome;
}

/** The seeds of results, each with its mean reward. */
export function rowsOfResults(results: readonly SideRow[]): SideRow[] {
  const seeds = new Map<number, SideRow[]>();
  for (const result of results) seeds.set(result.seed, [...(seeds.get(result.seed) ?? []), result]);
  return [...seeds].map(([seed, all]) => {
    const rewards = all.flatMap(({ reward }) => reward ?? []);
    const reward = rewards.length === 0 ? null : rewards.reduce((sum, each) => sum + each, 0) / rewards.length;
    return { ...all.at(-1)!, seed, reward };
  });
}

/** The compared seeds on both sides. */
export function pairsOf(a: readonly SideRow[], b: readonly SideRow[], compared: readonly number[]): Pair[] {
  const ofB = new Map(b.map((row) => [row.seed, row]));
  const seeds = new Set(compared);
  return a.flatMap((row): Pair[] => {
    const other = ofB.get(row.seed);
    if (!seeds.has(row.seed) || !other || row.reward === null || other.reward === null) return [];
    const difference = other.reward - row.reward;
    const outcome = exceeds(other.reward, row.reward) ? 'won' : exceeds(row.reward, other.reward) ? 'lost' : 'tied';
    return [{ seed: row.seed, a: row, b: other, aReward: row.reward, bReward: other.reward, difference, outcome }];
  });
}

/** As the service counts: by more than rounding. */
const exceeds = (left: number, right: number): boolean =>
  left - right > 1e-12 * Math.max(Math.abs(left), Math.abs(right));

export const orders = ['lost', 'won', 'row'] as const;
export type Order = (typeof orders)[number];

/** The pairs of an outcome; the largest losses or the largest gains first. */
export function choosePairs(pairs: readonly Pair[], outcome: Outcome | 'all', order: Order): Pair[] {
  const chosen = pairs.filter((pair) => outcome === 'all' || pair.outcome === outcome);
  if (order === 'row') return chosen.sort((x, y) => x.seed - y.seed);
  const sign = order === 'lost' ? 1 : -1;
  return chosen.sort((x, y) => sign * (x.difference - y.difference) || x.seed - y.seed);
}
