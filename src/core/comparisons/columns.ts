/** Several candidates beside each other: each pair on its own common seeds, verdicts corrected. */
import { holm } from '../math/holm.js';
import { isShown, type Conclusion } from '../math/statistics.js';
import { compareBySeed, type SeedComparison, type SeedMeans } from '../search/comparison.js';

/** What is known of a candidate. */
export interface Column {
  means: ReadonlyMap<number, SeedMeans>;
  /** Seeds on which every rollout failed. */
  failed: ReadonlySet<number>;
  /** Whether its search selected on a seed. */
  isSelected(seed: number): boolean;
}

export interface ComparedPair extends SeedComparison {
  /** Corrected for the comparisons beside it. */
  corrected: number;
  /** By the corrected p-value; of two columns that of `compareBySeed`. */
  conclusion: Conclusion;
}

/** The columns against one of them, in their order; null: itself, or no common seed. */
export function compareWithBaseline(columns: readonly Column[], baseline: number): (ComparedPair | null)[] {
  return corrected(columns.map((column, at) => (at === baseline ? null : compare(columns[baseline]!, column))));
}

export interface PlacedPair {
  /** Indexes of the columns. */
  a: number;
  b: number;
  pair: ComparedPair | null;
}

/** Each column against each before it. */
export function compareAll(columns: readonly Column[]): PlacedPair[] {
  const indexPairs = columns.flatMap((_, b) => columns.slice(0, b).map((_, a) => ({ a, b })));
  const pairs = corrected(indexPairs.map(({ a, b }) => compare(columns[a]!, columns[b]!)));
  return indexPairs.map((indexes, at) => ({ ...indexes, pair: pairs[at]! }));
}

const compare = (a: Column, b: Column): SeedComparison | null =>
  compareBySeed(a.means, b.means, (seed) => a.isSelected(seed) || b.isSelected(seed));

function corrected(pairs: readonly (SeedComparison | null)[]): (ComparedPair | null)[] {
  const ps = holm(pairs.flatMap((pair) => pair?.p ?? []));
  return pairs.map((pair) => {
    if (!pair) return null;
    const p = ps.shift()!;
    return { ...pair, corrected: p, conclusion: isShown(p) ? pair.verdict.verdict : 'inconclusive' };
  });
}
