/** Which rows of a migration decide, and on which its session searches. */
import { minSeeds, splitSeeds, type SeedSplit, type SplitBounds } from '../search/split.js';

export interface MigrationRows {
  /** Distinct rows by their inputs; see `prompts/row-groups.ts`. */
  groups: readonly (readonly number[])[];
  numRows: number;
  /** The category of each row, or null. */
  categories: readonly string[] | null;
  /** Rows that no search has used; empty: unknown. */
  unseen: readonly number[];
}

/** `search` null: there is no session. */
export interface MigrationSplit {
  deciding: number[];
  search: SeedSplit | null;
}

/** The fewest different rows of a migration with a session, half of which decide. */
export const leastRowsToSplit = 2 * minSeeds.apart;

/**
 * Rows that no search has used decide, if others are left for the session; else half of all rows.
 * Null: too few rows for both. `bounds`: those of the session; null: there is none.
 */
export function splitForMigration(
  rows: MigrationRows,
  bounds: SplitBounds | null,
  mostDeciding: number,
): MigrationSplit | null {
  const { groups, numRows, categories, unseen } = rows;
  if (!bounds)
    return { deciding: (unseen.length > 0 ? [...unseen] : groups.flat()).slice(0, mostDeciding), search: null };
  const isUnseen = new Set(unseen);
  const others = groups.filter((group) => !group.some((row) => isUnseen.has(row)));
  if (unseen.length > 0 && others.length >= minSeeds.apart)
    return { deciding: [...unseen], search: splitSeeds(numRows, 0, bounds, categories, others, 0) };
  if (groups.length < leastRowsToSplit) return null;
  const half = Math.round(groups.flat().length / 2);
  const { heldout, ...search } = splitSeeds(numRows, 0, { ...bounds, heldout: mostDeciding }, categories, groups, half);
  return { deciding: heldout, search: { ...search, heldout: [] } };
}
