/** The rows behind the counts of a comparison with a baseline. */
import { exceeds } from '../math/rewards.js';
import { comparedSeeds, countedSeeds, type CountedSeeds } from '../search/comparison.js';

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

/** Which seeds count in each column's pair with the baseline, by all that is known of both. */
export function countedOf(columns: readonly RowsColumn[], baseline: number): CountedSeeds[] {
  return columns.map((column) =>
    countedSeeds(columns[baseline]!.rewards, column.rewards, isSelectedBy(columns[baseline]!, column)),
  );
}

/**
 * Rows that count in any pair with the baseline, or on which a column failed, by seed. The columns
 * may know a part of the seeds only.
 */
export function comparedRows(
  columns: readonly RowsColumn[],
  baseline: number,
  countedOfColumns: readonly CountedSeeds[],
): ComparedRow[] {
  const before = columns[baseline]!;
  const counted = columns.map((column, at) =>
    at === baseline
      ? new Set<number>()
      : new Set(comparedSeeds(before.rewards, column.rewards, isSelectedBy(before, column), countedOfColumns[at])),
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

const isSelectedBy = (a: RowsColumn, b: RowsColumn) => (seed: number) => a.isSelected(seed) || b.isSelected(seed);

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
