import { suggest, type Trial } from '../../src/core/algorithms/mipro/tpe.js';
import { seedRng } from '../../src/core/math/random.js';
import type { Proposer } from './trial-run.js';

/** Our sampler as a proposer; proposals of one answer are pending for each other. */
export function openOurs(space: number[], seed: number): Proposer {
  let rng = seedRng(seed, 3);
  let suggested: number[][] = [];
  const trials: Trial[] = [];
  return {
    ask: (count, values) => {
      trials.push(...suggested.map((choices, at) => ({ choices, value: values[at]! })));
      suggested = [];
      for (let at = 0; at < count; at += 1) {
        const [choices, next] = suggest(rng, space, trials, suggested);
        suggested.push(choices);
        rng = next;
      }
      return Promise.resolve(suggested);
    },
  };
}
