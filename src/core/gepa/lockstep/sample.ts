/**
 * Which train seeds a proposal is tried on: epoch-shuffled minibatches (GEPA, arXiv 2507.19457, algorithm 1; the
 * reference's `EpochShuffledBatchSampler`). Every epoch is a fresh order of all train seeds, cut into minibatches.
 *
 * Invariants: within an epoch each listed seed is used before any is used again; a last minibatch that is too short is
 * filled from the epoch's beginning, so a minibatch never holds the same place of the list twice (the reference fills
 * with the least used seed, which may stand in that minibatch already). The generator has a stream of its own, so what
 * is sampled does not depend on which parents were drawn.
 */
import { seedRng, shuffle, type Rng } from '../../random.js';

/** `rng` is the state from which the current epoch's order follows, so the order itself need not be kept. */
export interface Sampler {
  rng: Rng;
  cursor: number;
}

const stream = 1;

export function createSampler(rngSeed: number): Sampler {
  return { rng: seedRng(rngSeed, stream), cursor: 0 };
}

/** The next minibatch: `size` of the seeds, `size` being at most their number. */
export function sampleMinibatch(sampler: Sampler, seeds: readonly number[], size: number): [number[], Sampler] {
  const [order, nextEpoch] = shuffle(sampler.rng, seeds);
  const { cursor } = sampler;
  const minibatch = Array.from({ length: size }, (_, offset) => order[(cursor + offset) % order.length]!);
  const after = cursor + size;
  return [minibatch, after < order.length ? { rng: sampler.rng, cursor: after } : { rng: nextEpoch, cursor: 0 }];
}
