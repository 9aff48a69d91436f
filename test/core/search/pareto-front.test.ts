import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { paretoFront } from '../../../src/core/search/pareto-front.js';
import { seedRng, shuffle } from '../../../src/core/math/random.js';

/** The front by its definition, from the full matrix. */
function byDefinition(matrix: number[][]): { best: number[]; holders: [candidate: number, seeds: number[]][] } {
  const seeds = matrix[0]!.map((_, seed) => seed);
  const best = seeds.map((seed) => Math.max(...matrix.map((scores) => scores[seed]!)));
  const holders = matrix.map((scores, candidate): [number, number[]] => {
    return [candidate, seeds.filter((seed) => scores[seed] === best[seed])];
  });
  return { best, holders: holders.filter(([, held]) => held.length > 0) };
}

const matrices = fc.integer({ min: 1, max: 70 }).chain((seeds) =>
  fc.array(fc.array(fc.constantFrom(-0.5, 0, 0.25, 0.5, 1), { minLength: seeds, maxLength: seeds }), {
    minLength: 1,
    maxLength: 12,
  }),
);

describe('the front', () => {
  test('equals its definition', () => {
    fc.assert(
      fc.property(matrices, (matrix) => {
        const { best, holders } = byDefinition(matrix);
        expect(paretoFront(new Map(matrix.entries()))).toEqual({
          best,
          holders: holders.map(([candidate, seeds]) => ({ candidate, seeds })),
        });
      }),
    );
  });

  test('does not depend on the order of the candidates', () => {
    fc.assert(
      fc.property(matrices, fc.integer(), (matrix, seed) => {
        const [shuffled] = shuffle(seedRng(seed), [...matrix.entries()]);
        const { best, holders } = paretoFront(new Map(shuffled));
        const inOrder = holders.sort((left, right) => left.candidate - right.candidate);
        expect({ best, holders: inOrder }).toEqual(paretoFront(new Map(matrix.entries())));
      }),
    );
  });

  test('is empty without candidates', () => {
    expect(paretoFront(new Map())).toEqual({ best: [], holders: [] });
  });
});
