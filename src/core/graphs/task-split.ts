/**
 * Which tasks of a data set a search learns from, chooses by, and compares with at the end. Tasks are named by their index,
 * which is the seed of their rollouts.
 *
 * - Fewer than 10 tasks: all of them for training and for evaluation; what is learned by heart then shows as progress.
 * - From 10 on the two share no task: about 40 % evaluate, the others train.
 * - From 30 on about 20 % are held out first, and 40 % of what is left evaluates.
 *
 * Parts are cut to their bounds; what evaluation and the held-out part leave over trains.
 */
import { seedRng, shuffle } from '../math/random.js';
import { searchLimits } from '../search/config.js';

/** Indices in ascending order. */
export interface TaskSplit {
  train: number[];
  evaluation: number[];
  /** Empty where there are too few tasks. */
  heldout: number[];
}

/** The most tasks of each part, each at least 1. */
export type SplitBounds = Readonly<Record<keyof TaskSplit, number>>;

const defaultBounds: SplitBounds = {
  train: searchLimits.trainSeeds,
  evaluation: searchLimits.evaluationSeeds,
  heldout: searchLimits.evaluationSeeds,
};

const fewest = { apart: 10, heldout: 30 } as const;
const stream = 4;

/** The same split for the same count, seed and bounds; throws RangeError where there is no task. */
export function splitTasks(count: number, rngSeed: number, bounds: SplitBounds = defaultBounds): TaskSplit {
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new RangeError(`cannot split ${count} tasks: the count must be an integer of at least 1`);
  }
  const [order] = shuffle(seedRng(rngSeed, stream), [...Array(count).keys()]);
  if (count < fewest.apart) {
    return { train: part(order, bounds.train), evaluation: part(order, bounds.evaluation), heldout: [] };
  }
  const heldout = count < fewest.heldout ? 0 : Math.min(bounds.heldout, Math.round(0.2 * count));
  const rest = order.slice(heldout);
  const evaluation = Math.min(bounds.evaluation, Math.round(0.4 * rest.length));
  return {
    train: part(rest.slice(evaluation), bounds.train),
    evaluation: part(rest, evaluation),
    heldout: part(order, heldout),
  };
}

/** The first ones of an order. */
function part(order: readonly number[], size: number): number[] {
  return order.slice(0, size).sort((left, right) => left - right);
}
