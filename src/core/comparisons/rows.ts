/** The rows behind the counts of a comparison with a baseline. */
import { exceeds } from '../math/rewards.js';
import type { Column, ComparedPair } from './columns.js';

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

/** Rows that count in any of the pairs, or on which a column failed, by seed. */
export function comparedRows(
  columns: readonly Column[],
  baseline: number,
  pairs: readonly (ComparedPair | null)[],
): ComparedRow[] {
  const counted = pairs.map((pair) => new Set(pair?.seeds));
  const seeds = new Set([...counted.flatMap((of) => [...of]), ...columns.flatMap(({ failed }) => [...failed])]);
  const cellOf = (seed: number, at: number): RowCell | null => {
    const { means, failed } = columns[at]!;
    const reward = means.get(seed)?.reward ?? null;
    if (reward === null) return failed.has(seed) ? { outcome: 'failed', reward } : null;
    if (at === baseline) return { outcome: 'baseline', reward };
    if (!counted[at]!.has(seed)) return { outcome: 'left_out', reward };
    return { outcome: outcomeOf(reward, columns[baseline]!.means.get(seed)!.reward), reward };
  };
  return [...seeds]
    .sort((left, right) => left - right)
    .map((seed) => ({ seed, cells: columns.map((_, at) => cellOf(seed, at)) }));
}

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
