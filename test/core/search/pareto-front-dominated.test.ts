/**
 * Invariants of dropping dominated candidates:
 *  1. what stays is what the reference's loop keeps: drop the first candidate, weakest first, all
 *     of whose seeds have another holder that is not dropped yet, and start again until none is
 *     found;
 *  2. every seed keeps a holder, and whoever is alone on a seed stays.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { paretoFront, removeDominated } from '../../../src/core/search/pareto-front.js';
import { mean } from '../../../src/core/math/rewards.js';

const frontOf = (matrix: number[][]) => paretoFront(new Map(matrix.entries()));

/** The reference's loop over sets of candidates, one for each seed. */
function byTheReference(matrix: number[][]): number[] {
  const fronts = matrix[0]!.map((_, seed) => {
    const best = Math.max(...matrix.map((scores) => scores[seed]!));
    return matrix.flatMap((scores, candidate) => (scores[seed] === best ? [candidate] : []));
  });
  const rewards = matrix.map((scores) => mean(scores)!);
  const order = [...new Set(fronts.flat())].sort((a, b) => rewards[a]! - rewards[b]! || b - a);
  const dropped = new Set<number>();
  const isDominated = (one: number) =>
    fronts
      .filter((front) => front.includes(one))
      .every((front) => front.some((other) => other !== one && !dropped.has(other)));
  for (let found = true; found;) {
    const next = order.find((one) => !dropped.has(one) && isDominated(one));
    found = next !== undefined;
    if (next !== undefined) dropped.add(next);
  }
  return order.filter((one) => !dropped.has(one)).sort((a, b) => a - b);
}

const matrices = fc.integer({ min: 1, max: 8 }).chain((seeds) =>
  fc.array(fc.array(fc.constantFrom(0, 0.5, 1), { minLength: seeds, maxLength: seeds }), {
    minLength: 1,
    maxLength: 9,
  }),
);

describe('removeDominated', () => {
  test('keeps whom the reference keeps, and a holder for every seed', () => {
    fc.assert(
      fc.property(matrices, (matrix) => {
        const front = frontOf(matrix);
        const staying = removeDominated(front, (candidate) => mean(matrix[candidate]!)!);
        expect(staying.map(({ candidate }) => candidate)).toEqual(byTheReference(matrix));
        expect(new Set(staying.flatMap(({ seeds }) => seeds)).size).toBe(front.best.length);
      }),
      { numRuns: 500 },
    );
  });

  test('of equals the earlier candidate stays', () => {
    const staying = removeDominated(
      frontOf([
        [1, 1],
        [1, 1],
      ]),
      () => 1,
    );
    expect(staying.map(({ candidate }) => candidate)).toEqual([0]);
  });
});
