/**
 * Splits the tasks of a graph job, or the rows of a data set, into train, evaluation and held-out
 * seeds.
 *
 * - Fewer than 10: all train and evaluate, so memorized answers show as progress.
 * - From 10: training and evaluation are disjoint; about 40 % evaluate, the others train.
 * - From 30: about 20 % are held out first, and 40 % of the rest evaluate.
 *
 * Parts are cut to their bounds; seeds that evaluation and held-out leave over train. A group of
 * seeds stands in one part, and the counts above are those of groups.
 */
import { groupBy } from '../../util/group.js';
import { seedRng, shuffle } from '../math/random.js';
import { searchLimits } from './config.js';

/** Indices in ascending order. */
export interface SeedSplit {
  train: number[];
  evaluation: number[];
  /** Empty for too few seeds. */
  heldout: number[];
}

/** Maximum seeds of each part, at least 1. */
export type SplitBounds = Readonly<Record<keyof SeedSplit, number>>;

const defaultBounds: SplitBounds = {
  train: searchLimits.trainSeeds,
  evaluation: searchLimits.evaluationSeeds,
  heldout: searchLimits.evaluationSeeds,
};

/** The least seeds for train and evaluation seeds that differ, and for held-out ones. */
export const minSeeds = { apart: 10, heldout: 30 } as const;
const stream = 4;

/**
 * Returns the same split for the same arguments. Throws RangeError without seeds. `categories`: the
 * category of each index; every part then has each category in its share. `groups`: the used
 * indices by group (`prompts/row-groups.ts`); by default each is a group of its own.
 */
export function splitSeeds(
  count: number,
  rngSeed: number,
  bounds: SplitBounds = defaultBounds,
  categories: readonly string[] | null = null,
  groups: readonly (readonly number[])[] = [...Array(count).keys()].map((index) => [index]),
): SeedSplit {
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new RangeError(`Cannot split ${count} seeds: the count must be an integer of at least 1.`);
  }
  const [shuffled] = shuffle(seedRng(rngSeed, stream), [...Array(count).keys()]);
  const groupOf = new Map(groups.flatMap((group, at) => group.map((index) => [index, at])));
  const used = shuffled.filter((index) => groupOf.has(index));
  const order = categories === null ? used : interleave(used, categories);
  if (groups.length < minSeeds.apart) {
    return { train: takeSorted(order, bounds.train), evaluation: takeSorted(order, bounds.evaluation), heldout: [] };
  }
  const grouped = [...groupBy(order, (index) => groupOf.get(index)!).values()];
  const heldout = groups.length < minSeeds.heldout ? 0 : Math.round(0.2 * order.length);
  // Each part that follows has a group of its own, however large the others are.
  const first = takeGroups(grouped, heldout, bounds.heldout, 2);
  const second = takeGroups(first.rest, Math.round(0.4 * first.rest.flat().length), bounds.evaluation, 1);
  return {
    train: takeSorted(second.rest.flat(), bounds.train),
    evaluation: second.taken,
    heldout: first.taken,
  };
}

/** The first groups with at least `size` indices, cut to `most` indices; leaves `left` groups. */
function takeGroups(
  groups: readonly number[][],
  size: number,
  most: number,
  left: number,
): { taken: number[]; rest: number[][] } {
  let [count, indices] = [0, 0];
  while (indices < Math.min(size, most) && count < groups.length - left) indices += groups[count++]!.length;
  return { taken: takeSorted(groups.slice(0, count).flat(), most), rest: groups.slice(count) };
}

/** An order in which every stretch has each category in its share. */
function interleave(order: readonly number[], categories: readonly string[]): number[] {
  const groups = [...groupBy(order, (index) => categories[index]!).values()];
  const ranked = groups.flatMap((group) => group.map((index, at) => ({ index, rank: (at + 0.5) / group.length })));
  return ranked.sort((left, right) => left.rank - right.rank).map(({ index }) => index);
}

function takeSorted(order: readonly number[], size: number): number[] {
  return order.slice(0, size).sort((left, right) => left - right);
}

/** The seeds of a search by their parts. */
export function splitOf(search: {
  trainSeeds: number[];
  evaluationSeeds: number[];
  heldoutSeeds: number[];
}): SeedSplit {
  return { train: search.trainSeeds, evaluation: search.evaluationSeeds, heldout: search.heldoutSeeds };
}
