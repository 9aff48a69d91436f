/**
 * Splits tasks into training, evaluation and held-out tasks.
 *
 * - Fewer than 10 tasks: all tasks train and evaluate, so memorized answers show as progress.
 * - From 10 tasks: training and evaluation are disjoint; about 40 % evaluate, the others train.
 * - From 30 tasks: about 20 % are held out first, and 40 % of the rest evaluate.
 *
 * Parts are cut to their bounds; tasks that evaluation and held-out leave over train.
 */
import { seedRng, shuffle } from '../math/random.js';
import { searchLimits } from '../search/config.js';

/** Indices in ascending order. */
export interface TaskSplit {
  train: number[];
  evaluation: number[];
  /** Empty for too few tasks. */
  heldout: number[];
}

/** Maximum tasks of each part, at least 1. */
export type SplitBounds = Readonly<Record<keyof TaskSplit, number>>;

const defaultBounds: SplitBounds = {
  train: searchLimits.trainSeeds,
  evaluation: searchLimits.evaluationSeeds,
  heldout: searchLimits.evaluationSeeds,
};

const minTasks = { apart: 10, heldout: 30 } as const;
const stream = 4;

/** Returns the same split for the same arguments. Throws RangeError without tasks. */
export function splitTasks(count: number, rngSeed: number, bounds: SplitBounds = defaultBounds): TaskSplit {
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new RangeError(`Cannot split ${count} tasks: the count must be an integer of at least 1.`);
  }
  const [order] = shuffle(seedRng(rngSeed, stream), [...Array(count).keys()]);
  if (count < minTasks.apart) {
    return { train: takeSorted(order, bounds.train), evaluation: takeSorted(order, bounds.evaluation), heldout: [] };
  }
  const heldout = count < minTasks.heldout ? 0 : Math.min(bounds.heldout, Math.round(0.2 * count));
  const rest = order.slice(heldout);
  const evaluation = Math.min(bounds.evaluation, Math.round(0.4 * rest.length));
  return {
    train: takeSorted(rest.slice(evaluation), bounds.train),
    evaluation: takeSorted(rest, evaluation),
    heldout: takeSorted(order, heldout),
  };
}

function takeSorted(order: readonly number[], size: number): number[] {
  return order.slice(0, size).sort((left, right) => left - right);
}
