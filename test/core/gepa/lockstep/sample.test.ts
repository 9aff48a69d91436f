import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSampler, sampleMinibatch } from '../../../../src/core/gepa/lockstep/sample.js';

function sample(rngSeed: number, seeds: number[], size: number, count: number): number[][] {
  let sampler = createSampler(rngSeed);
  return Array.from({ length: count }, () => {
    const [minibatch, next] = sampleMinibatch(sampler, seeds, size);
    sampler = JSON.parse(JSON.stringify(next)) as typeof next;
    return minibatch;
  });
}

const cases = fc
  .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }), fc.maxSafeInteger())
  .map(([count, size, rngSeed]) => {
    const seeds = Array.from({ length: count }, (_, place) => place * 10);
    return { seeds, size: Math.min(size, count), rngSeed };
  });

describe('sampleMinibatch', () => {
  test('uses every seed in each epoch before any again, and never one twice in a minibatch', () => {
    fc.assert(
      fc.property(cases, ({ seeds, size, rngSeed }) => {
        const perEpoch = Math.ceil(seeds.length / size);
        const minibatches = sample(rngSeed, seeds, size, 3 * perEpoch);
        for (let epoch = 0; epoch < 3; epoch++) {
          const used = minibatches.slice(epoch * perEpoch, (epoch + 1) * perEpoch).flat();
          expect([...used.slice(0, seeds.length)].sort((a, b) => a - b)).toEqual(seeds);
        }
        for (const minibatch of minibatches) expect(new Set(minibatch).size).toBe(size);
      }),
    );
  });

  test('shuffles each epoch anew, and by the seed', () => {
    const seeds = Array.from({ length: 20 }, (_, place) => place);
    const [first, second] = sample(0, seeds, 20, 2);
    expect(first).not.toEqual(second);
    expect(first).not.toEqual(seeds);
    expect(sample(1, seeds, 20, 1)[0]).not.toEqual(first);
  });

  test('draws a seed as often as it is listed', () => {
    expect(sample(0, [5, 5, 6], 3, 1)[0]!.sort()).toEqual([5, 5, 6]);
  });
});
