import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addToFront, countSeeds, emptyFront, toBits, type Front } from '../../../src/core/search/pareto-front.js';
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

function placesOf(front: Front): [candidate: number, seeds: number[]][] {
  return front.holders.map(({ candidate, seeds }) => {
    const bits = toBits(seeds);
    return [candidate, front.best.map((_, seed) => seed).filter((seed) => (bits >> BigInt(seed)) & 1n)];
  });
}

const matrices = fc.integer({ min: 1, max: 70 }).chain((seeds) =>
  fc.array(fc.array(fc.constantFrom(-0.5, 0, 0.25, 0.5, 1), { minLength: seeds, maxLength: seeds }), {
    minLength: 1,
    maxLength: 12,
  }),
);

describe('the front', () => {
  test('is what its definition says, without the matrix', () => {
    fc.assert(
      fc.property(matrices, (matrix) => {
        const front = matrix.reduce((result, scores, number) => addToFront(result, number, scores), emptyFront);
        const expected = byDefinition(matrix);
        expect(front.best).toEqual(expected.best);
        expect(placesOf(front)).toEqual(expected.holders);
        for (const holder of front.holders) {
          expect(countSeeds(holder)).toBe(expected.holders.find(([one]) => one === holder.candidate)![1].length);
        }
      }),
    );
  });

  test('does not depend on the order in which candidates come', () => {
    fc.assert(
      fc.property(matrices, fc.integer(), (matrix, seed) => {
        const numbered = matrix.map((scores, candidate) => ({ scores, candidate }));
        const [shuffled] = shuffle(seedRng(seed), numbered);
        const build = (list: typeof numbered) =>
          list.reduce((front, { candidate, scores }) => addToFront(front, candidate, scores), emptyFront);
        const [left, right] = [build(numbered), build(shuffled)];
        expect(right.best).toEqual(left.best);
        expect(placesOf(right).sort()).toEqual(placesOf(left).sort());
      }),
    );
  });

  test('keeps 500 candidates that tie on 1,000 seeds in a few hundred characters each', () => {
    let front = emptyFront;
    for (let candidate = 0; candidate < 500; candidate++) {
      front = addToFront(
        front,
        candidate,
        Array.from({ length: 1000 }, () => 1),
      );
    }
    expect(front.holders).toHaveLength(500);
    expect(JSON.stringify(front).length).toBeLessThan(500 * 300);
  });

  test('refuses scores of another number of seeds', () => {
    expect(() => addToFront(addToFront(emptyFront, 0, [1, 0]), 1, [1])).toThrow('candidate 1 has 1 scores');
  });
});
