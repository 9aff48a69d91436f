/**
 * Splits the tasks of a graph job, or the rows of a data set, into train, evaluation and held-out
 * seeds.
 *
 * - Fewer than 10: all train and evaluate, so memorized answers show as progress.
 * - From 10: training and evaluation are disjoint; about 40 % evaluate, the others train.
 * - From 30: about 20 % are held out first, and 40 % of the rest evaluate.
 *
 * Parts are cut to their bounds; seeds that evaluation and held-out leave over train.
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
 * category of each index; every part then has each category in its share.
 */
export function splitSeeds(
  count: number,
  rngSeed: number,
  bounds: SplitBounds = defaultBounds,
  categories: readonly string[] | null = null,
): SeedSplit {
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new RangeError(`Cannot split ${count} seeds: the count must be an integer of at least 1.`);
  }
  const [shuffled] = shuffle(seedRng(rngSeed, stream), [...Array(count).keys()]);
  const order = categories === null ? shuffled : interleave(shuffled, categories);
  if (count < minSeeds.apart) {
    return { train: takeSorted(order, bounds.train), evaluation: takeSorted(order, bounds.evaluation), heldout: [] };
  }
  const heldout = count < minSeeds.heldout ? 0 : Math.min(bounds.heldout, Math.round(0.2 * count));
  const rest = order.slice(heldout);
  const evaluation = Math.min(bounds.evaluation, Math.round(0.4 * rest.length));
  return {
    train: takeSorted(rest.slice(evaluation), bounds.train),
    evaluation: takeSorted(rest, evaluation),
    heldout: takeSorted(order, heldout),
  };
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
