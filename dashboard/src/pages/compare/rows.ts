/** What one side has of a seed. */
export interface SideRow {
  seed: number;
  /** Mean of the succeeded rollouts; null: all failed. */
  reward: number | null;
  /** The last rollout. */
  traceId: string;
  /** Whether the search of this side chose candidates by this seed. */
  isSelected: boolean;
  feedback: string | null;
}

export interface Rollout extends SideRow {
  isFinished: boolean;
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

/** The seeds of the rollouts of one side, each with its mean reward. */
export function rowsOfRollouts(rollouts: readonly Rollout[]): SideRow[] {
  const seeds = new Map<number, Rollout[]>();
  for (const rollout of rollouts)
    if (rollout.isFinished) seeds.set(rollout.seed, [...(seeds.get(rollout.seed) ?? []), rollout]);
  return [...seeds].map(([seed, all]) => {
    const { traceId, feedback } = all.at(-1)!;
    const rewards = all.flatMap(({ reward }) => reward ?? []);
    const reward = rewards.length === 0 ? null : rewards.reduce((sum, each) => sum + each, 0) / rewards.length;
    return { seed, reward, traceId, feedback, isSelected: all.some((rollout) => rollout.isSelected) };
  });
}

/**
 * The common seeds with a reward on both sides. Without those that a search selected on, if that
 * leaves as many as the service compared.
 */
export function pairsOf(a: readonly SideRow[], b: readonly SideRow[], compared: number): Pair[] {
  const ofB = new Map(b.map((row) => [row.seed, row]));
  const pairs = a.flatMap((row): Pair[] => {
    const other = ofB.get(row.seed);
    if (!other || row.reward === null || other.reward === null) return [];
    const difference = other.reward - row.reward;
    const outcome = difference > 0 ? 'won' : difference < 0 ? 'lost' : 'tied';
    return [{ seed: row.seed, a: row, b: other, aReward: row.reward, bReward: other.reward, difference, outcome }];
  });
  const unselected = pairs.filter((pair) => !pair.a.isSelected && !pair.b.isSelected);
  return unselected.length === compared ? unselected : pairs;
}

export const orders = ['lost', 'won', 'row'] as const;
export type Order = (typeof orders)[number];

/** The pairs of an outcome; the largest losses or the largest gains first. */
export function choosePairs(pairs: readonly Pair[], outcome: Outcome | 'all', order: Order): Pair[] {
  const chosen = pairs.filter((pair) => outcome === 'all' || pair.outcome === outcome);
  if (order === 'row') return chosen.sort((x, y) => x.seed - y.seed);
  const sign = order === 'lost' ? 1 : -1;
  return chosen.sort((x, y) => sign * (x.difference - y.difference) || x.seed - y.seed);
}
