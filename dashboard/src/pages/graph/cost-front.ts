/** The front of reward and cost as points of a chart. */
import type { Pareto } from '../../data/graph/types.js';

export type Efficient = Pareto['cost_front'][number];
export type Price = 'cost_usd' | 'tokens' | 'calls';

/** What tells the candidates apart: dollars; tokens if they are free or a price is unknown. */
export function priceOf(front: readonly Efficient[]): Price {
  const differs = (price: Price) =>
    front.every((each) => each[price] !== null) && new Set(front.map((each) => each[price])).size > 1;
  return (['cost_usd', 'tokens'] as const).find(differs) ?? 'calls';
}

/** Columns of price and reward by rising price; candidates without a price are left out. */
export function pointsOf(
  front: readonly Efficient[],
  price: Price,
): { points: Efficient[]; columns: [number[], number[]] } {
  const points = front.filter((each) => each[price] !== null).toSorted((a, b) => a[price]! - b[price]!);
  return { points, columns: [points.map((each) => each[price]!), points.map(({ reward }) => reward)] };
}
