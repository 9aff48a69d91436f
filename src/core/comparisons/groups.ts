/** Searches of one request that differ in `rng_seed` alone: how much the search itself varies. */
import { canonicalJson } from '../../util/json.js';
import { groupBy } from '../../util/group.js';
import { mean } from '../math/rewards.js';
import { sampleOf } from '../math/statistics.js';

/** What says nothing about a search, in a request or in the section that holds it. */
const unlike = new Set(['rng_seed', 'name', 'tags', 'metadata', 'notes']);
const section = 'policy_optimization';

/** Equal for requests that differ in `rng_seed` and labels alone. */
export function requestKey(request: Readonly<Record<string, unknown>>): string {
  const inner = request[section];
  const rest = without(request);
  return canonicalJson(isObject(inner) ? { ...rest, [section]: without(inner) } : rest);
}

const without = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !unlike.has(name)));

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** A search whose best candidate is a column. */
export interface ColumnSearch {
  column: number;
  /** That of `requestKey`. */
  key: string;
  rngSeed: number;
  /** Its difference to the baseline, which has 0 itself. */
  difference: number;
}

export interface SearchGroup {
  columns: number[];
  /** Different values of `rng_seed`. */
  rngSeeds: number;
  /** Mean of its differences to the baseline; searches of one `rng_seed` count as one. */
  difference: number;
  /** Standard deviation of these differences; null: fewer than `leastForSpread` seeds. */
  spread: number | null;
}

const leastForSpread = 3;

/** Searches of one request with at least two values of `rng_seed`, in the order of the columns. */
export function groupSearches(searches: readonly ColumnSearch[]): SearchGroup[] {
  return [...groupBy(searches, ({ key }) => key).values()].flatMap((members) => {
    const bySeed = [...groupBy(members, ({ rngSeed }) => rngSeed).values()];
    if (bySeed.length < 2) return [];
    const { mean: difference, variance } = sampleOf(
      bySeed.map((same) => mean(same.map(({ difference: each }) => each))!),
    );
    const spread = bySeed.length < leastForSpread ? null : Math.sqrt(variance);
    return [{ columns: members.map(({ column }) => column), rngSeeds: bySeed.length, difference, spread }];
  });
}

/** The larger of the known spreads of the groups of two columns; null: none is known. */
export function spreadBetween(groups: readonly SearchGroup[], a: number, b: number): number | null {
  const spreads = groups.flatMap(({ columns, spread }) =>
    spread !== null && (columns.includes(a) || columns.includes(b)) ? [spread] : [],
  );
  return spreads.length === 0 ? null : Math.max(...spreads);
}
