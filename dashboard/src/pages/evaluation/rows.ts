import type { Column, Result } from '../../data/evaluation/types.js';

/** A seed with its result in each column; undefined: not finished, or not of that evaluation. */
export interface Row {
  seed: number;
  cells: (Result | undefined)[];
}

export const filters = ['all', 'failed', 'low', 'differ'] as const;
export type Filter = (typeof filters)[number];
export const sorts = ['row', 'reward', 'latency', 'cost', 'difference'] as const;
export type Sort = (typeof sorts)[number];

/** Below this reward a row is low, as for labels of a judge. */
const lowReward = 0.5;

/** The seeds of all columns: those of the first in its order, then what others add. */
export function rowsOf(columns: readonly Pick<Column, 'results'>[]): Row[] {
  const rows = new Map<number, Row>();
  for (const [index, { results }] of columns.entries())
    for (const result of results) {
      const row = rows.get(result.seed) ?? { seed: result.seed, cells: columns.map(() => undefined) };
      row.cells[index] = result;
      rows.set(result.seed, row);
    }
  return [...rows.values()];
}

const rewardsOf = ({ cells }: Row): number[] => cells.flatMap((cell) => cell?.reward ?? []);
const spread = (row: Row): number => {
  const rewards = rewardsOf(row);
  return rewards.length === 0 ? 0 : Math.max(...rewards) - Math.min(...rewards);
};

const passes: Record<Filter, (row: Row) => boolean> = {
  all: () => true,
  failed: ({ cells }) => cells.some((cell) => cell?.status === 'failed'),
  low: (row) => rewardsOf(row).some((reward) => reward < lowReward),
  differ: (row) => spread(row) > 0,
};

const most = (values: (number | null | undefined)[]): number =>
  Math.max(-Infinity, ...values.filter((value) => value !== null && value !== undefined));

/** The first has the lowest value. */
const keys: Record<Exclude<Sort, 'row'>, (row: Row) => number> = {
  reward: (row) => Math.min(Infinity, ...rewardsOf(row)),
  latency: ({ cells }) => -most(cells.map((cell) => cell?.latency_ms)),
  cost: ({ cells }) => -most(cells.map((cell) => cell?.cost_usd)),
  difference: (row) => -spread(row),
};

/** The rows that pass a filter, in an order; equal rows keep theirs. */
export function chooseRows(rows: readonly Row[], filter: Filter, sort: Sort): Row[] {
  const chosen = rows.filter(passes[filter]);
  if (sort === 'row') return chosen;
  const keyed = chosen.map((row) => ({ row, key: keys[sort](row) }));
  // Infinity minus Infinity is no order.
  return keyed.sort((a, b) => (a.key === b.key ? 0 : a.key - b.key)).map(({ row }) => row);
}
