/**
 * Splits the tasks of a graph job, or the rows of a data set, into train, evaluation and held-out
 * seeds.
 *
 * - Fewer than 10: all train and evaluate, so memorized answers show as progress.
 * - From 10: training and evaluation are disjoint; about 40 % evaluate, the others train.
 * - From 30: some are held out first, and 40 % of the rest evaluate. Held out are as many as show a
 *   difference of 0.1, at most a third and at least a fifth.
 *
 * Parts are cut to their bounds; seeds that evaluation and held-out leave over train. A group of
 * seeds stands in one part, and the counts above are those of groups.
 */
import { groupBy } from '../../util/group.js';
import { rowsForTenth } from '../math/least-shown.js';
import { nextUint32, seedRng, shuffle, type Rng } from '../math/random.js';
import { rowsInAll } from '../math/words.js';
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

/** Maximum shares of the budget for an evaluation, and for each side of the held-out comparison. */
const shares = { evaluation: 1 / 10, heldout: 1 / 6 } as const;
const smallestPart = 3;

/** Within a budget of rollouts; null: without one. `heldout`: those wanted. */
export function splitBounds(maxRollouts: number | null, heldout?: number): SplitBounds {
  const { trainSeeds: train, evaluationSeeds: most } = searchLimits;
  const within = (share: number) =>
    Math.min(most, Math.max(smallestPart, Math.floor(share * (maxRollouts ?? Infinity))));
  return { train, evaluation: within(shares.evaluation), heldout: heldout ?? within(shares.heldout) };
}

/** The least seeds for train and evaluation seeds that differ, and for held-out ones. */
export const minSeeds = { apart: 10, heldout: 30 } as const;
const stream = 4;

/**
 * Returns the same split for the same arguments. Throws RangeError without seeds. `categories`: the
 * category of each index; every part then has each category in its share. `groups`: the used
 * indices by group (`prompts/row-groups.ts`); by default each is a group of its own. `heldout`:
 * the held-out seeds, within the bounds, if they shall be another number.
 */
export function splitSeeds(
  count: number,
  rngSeed: number,
  bounds: SplitBounds = defaultBounds,
  categories: readonly string[] | null = null,
  groups: readonly (readonly number[])[] = [...Array(count).keys()].map((index) => [index]),
  heldout?: number,
): SeedSplit {
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new RangeError(`Cannot split ${count} seeds: the count must be an integer of at least 1.`);
  }
  const [shuffled, rng] = shuffle(seedRng(rngSeed, stream), [...Array(count).keys()]);
  const groupOf = new Map(groups.flatMap((group, at) => group.map((index) => [index, at])));
  const used = shuffled.filter((index) => groupOf.has(index));
  const order = categories === null ? used : interleave(used, categories, rng);
  if (groups.length < minSeeds.apart) {
    return { train: takeSorted(order, bounds.train), evaluation: takeSorted(order, bounds.evaluation), heldout: [] };
  }
  const grouped = [...groupBy(order, (index) => groupOf.get(index)!).values()];
  const held = heldout ?? (groups.length < minSeeds.heldout ? 0 : usualHeldout(order.length));
  // Each part that follows has a group of its own, however large the others are.
  const first = takeGroups(grouped, held, bounds.heldout, 2);
  const second = takeGroups(first.rest, Math.round(0.4 * first.rest.flat().length), bounds.evaluation, 1);
  return {
    train: takeSorted(second.rest.flat(), bounds.train),
    evaluation: second.taken,
    heldout: first.taken,
  };
}

function usualHeldout(count: number): number {
  return Math.round(Math.max(count / 5, Math.min(count / 3, rowsForTenth)));
}

/** What a request's own number of held-out rows leaves for the search, where that is too little. */
export function heldoutWarning({ train, evaluation, heldout }: SeedSplit): string[] {
  const rows = train.length + evaluation.length + heldout.length;
  const usual = usualHeldout(rows);
  if (Math.min(train.length, evaluation.length) >= minSeeds.apart || heldout.length <= usual) return [];
  const left = `${train.length} train rows, to learn from, and ${evaluation.length} evaluation rows, to choose by`;
  return [
    `Holding out ${heldout.length} of ${rows} rows leaves ${left}: too few to find a better prompt. Hold out ${usual}, or give more rows: ${heldout.length} held-out rows take about ${rowsInAll(heldout.length)} in all.`,
  ];
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

/**
 * An order in which every stretch has each category in its share. Each begins at a random place: a
 * stretch shorter than their number would else have the commonest alone.
 */
function interleave(order: readonly number[], categories: readonly string[], rng: Rng): number[] {
  const groups = [...groupBy(order, (index) => categories[index]!).values()];
  let next = rng;
  const ranked = groups.flatMap((group) => {
    const [drawn, after] = nextUint32(next);
    next = after;
    const start = drawn / 2 ** 32;
    return group.map((index, at) => ({ index, rank: (at + start) / group.length }));
  });
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
