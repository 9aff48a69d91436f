import { createHash } from 'node:crypto';
import { seedRng, shuffle, uniformInt, weightedPick, type Rng } from '../../src/core/math/random.js';

/** Seeded random draws. */
export interface Draws {
  /** An integer from 0 to `count` - 1. */
  below(count: number): number;
  /** An index in proportion to its weight. */
  weighted(weights: readonly number[]): number;
  shuffled<T>(items: readonly T[]): T[];
}

/** Draws of a world's seed; each `stream` is independent. */
export function seededDraws(seed: number, stream: number): Draws {
  return drawsFrom(seedRng(seed, stream));
}

/** Draws determined by a text. */
export function textDraws(text: string): Draws {
  return drawsFrom(seedRng(createHash('sha256').update(text).digest().readUIntBE(0, 6)));
}

function drawsFrom(start: Rng): Draws {
  let rng = start;
  const draw = <T>([value, next]: [T, Rng]): T => {
    rng = next;
    return value;
  };
  return {
    below: (count) => draw(uniformInt(rng, count)),
    weighted: (weights) => draw(weightedPick(rng, weights)),
    shuffled: (items) => draw(shuffle(rng, items)),
  };
}
