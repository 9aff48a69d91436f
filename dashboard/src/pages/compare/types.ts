import type { Answer, Item } from '../../../../src/client/index.js';

export type Many = Answer<'compareMany'>;
export type Column = Many['columns'][number];
export type Against = NonNullable<Column['against_baseline']>;
export type Row = Item<'listComparedRows'>;
export type Cell = NonNullable<Row['cells'][number]>;

/** Beyond this a bound of an interval stands for none: the service sends the largest number. */
const unboundedFrom = 1e300;

/** Of a difference: by its verdict, which counts the other comparisons, too. */
export const toneOfVerdict = (verdict: Against['verdict']): 'good' | 'bad' | 'quiet' =>
  verdict === 'better' ? 'good' : verdict === 'worse' ? 'bad' : 'quiet';

/** The axis of several differences: from -reach to reach. */
export function reachOf(columns: readonly Column[]): number {
  const ends = columns.flatMap(({ against_baseline: pair }) =>
    pair ? [pair.difference.mean, pair.difference.low, pair.difference.high].map(Math.abs) : [],
  );
  return Math.max(0.01, ...ends.filter((end) => end < unboundedFrom));
}

/** How many times the spread of the search a difference is; null: the spread is not known, or 0. */
export function timesSpread({ difference, search_spread: spread }: Against): number | null {
  return spread === null || spread === 0 ? null : Math.abs(difference.mean) / spread;
}
