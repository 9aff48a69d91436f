/** The rows behind the counts of a comparison with a baseline. */
import { exceeds } from '../math/rewards.js';
import { comparedSeeds } from '../search/comparison.js';

/**
 * How a column does on a row beside the baseline. `left_out`: it ran, and the row does not count,
 * since a search selected on it or the baseline has no reward. `baseline`: the baseline itself.
 */
export const rowOutcomes = ['won', 'lost', 'tied', 'failed', 'left_out', 'baseline'] as const;
export type RowOutcome = (typeof rowOutcomes)[number];

export interface RowCell {
  outcome: RowOutcome;
  /** Mean over the succeeded rollouts; null: all failed. */
  reward: number | null;
}

/** `cells`: of each column; null: it has not finished a rollout on the row. */
export interface ComparedRow {
  seed: number;
  cells: (RowCell | null)[];
}

/** What is known of a candidate's rewards. */
export interface RowsColumn {
  /** Means by seed. */
  rewards: ReadonlyMap<number, number>;
  /** Seeds on which every rollout failed. */
  failed: ReadonlySet<number>;
  /** Whether its search selected on a seed. */
  isSelected(seed: number): boolean;
}

/** Rows that count in any pair with the baseline, or on which a column failed, by seed. */
export function comparedRows(columns: readonly RowsColumn[], baseline: number): ComparedRow[] {
  const counted = columns.map(
    (_, at) => new Set(at === baseline ? null : countedSeeds(columns[baseline]!, columns[at]!)),
  );
  const seeds = new Set([...counted.flatMap((of) => [...of]), ...columns.flatMap(({ failed }) => [...failed])]);
  const cellOf = (seed: number, at: number): RowCell | null => {
    const { rewards, failed } = columns[at]!;
    const reward = rewards.get(seed) ?? null;
    if (reward === null) return failed.has(seed) ? { outcome: 'failed', reward } : null;
    if (at === baseline) return { outcome: 'baseline', reward };
    if (!counted[at]!.has(seed)) return { outcome: 'left_out', reward };
    return { outcome: outcomeOf(reward, columns[baseline]!.rewards.get(seed)!), reward };
  };
  return [...seeds]
    .sort((left, right) => left - right)
    .map((seed) => ({ seed, cells: columns.map((_, at) => cellOf(seed, at)) }));
}

const countedSeeds = (a: RowsColumn, b: RowsColumn) =>
  comparedSeeds(a.rewards, b.rewards, (seed) => a.isSelected(seed) || b.isSelected(seed));

function outcomeOf(reward: number, before: number): RowOutcome {
  if (exceeds(reward, before)) return 'won';
  return exceeds(before, reward) ? 'lost' : 'tied';
}

export const rowFilters = ['won', 'lost', 'different', 'failed'] as const;
export type RowFilterName = (typeof rowFilters)[number];

/** Whether a column, or any, has the outcome on a row. `column` null: any. */
export function hasOutcome({ cells }: ComparedRow, wanted: RowFilterName, column: number | null): boolean {
  const outcomes: readonly RowOutcome[] = wanted === 'different' ? ['won', 'lost'] : [wanted];
  const looked = column === null ? cells : [cells[column]];
  return looked.some((cell) => cell != null && outcomes.includes(cell.outcome));
}
