/**
 * Invariants of removing dominated candidates:
 *  1. the result equals the reference loop: repeatedly drop the weakest candidate whose seeds all
 *     have another remaining holder;
 *  2. every seed keeps a holder.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { paretoFront, removeDominated } from '../../../src/core/search/pareto-front.js';
import { mean } from '../../../src/core/math/rewards.js';
import { pureRuns } from '../../support/runs.js';

const frontOf = (matrix: number[][]) => paretoFront(new Map(matrix.entries()));

/** The reference loop over a set of candidates for each seed. */
function referenceResult(matrix: number[][]): number[] {
  const fronts = matrix[0]!.map((_, seed) => {
    const best = Math.max(...matrix.map((scores) => scores[seed]!));
    return matrix.flatMap((scores, candidate) => (scores[seed] === best ? [candidate] : []));
  });
  const rewards = matrix.map((scores) => mean(scores)!);
  const order = [...new Set(fronts.flat())].sort((a, b) => rewards[a]! - rewards[b]! || b - a);
  const dropped = new Set<number>();
  const isDominated = (candidate: number) =>
    fronts
      .filter((front) => front.includes(candidate))
      .every((front) => front.some((other) => other !== candidate && !dropped.has(other)));
  for (let found = true; found;) {
    const next = order.find((candidate) => !dropped.has(candidate) && isDominated(candidate));
    found = next !== undefined;
    if (next !== undefined) dropped.add(next);
  }
  return order.filter((candidate) => !dropped.has(candidate)).sort((a, b) => a - b);
}

const matrices = fc.integer({ min: 1, max: 8 }).chain((seeds) =>
  fc.array(fc.array(fc.constantFrom(0, 0.5, 1), { minLength: seeds, maxLength: seeds }), {
    minLength: 1,
    maxLength: 9,
  }),
);

describe('removeDominated', () => {
  test('equals the reference, and keeps a holder for every seed', () => {
    fc.assert(
      fc.property(matrices, (matrix) => {
        const front = frontOf(matrix);
        const kept = removeDominated(front, (candidate) => mean(matrix[candidate]!)!);
        expect(kept.map(({ candidate }) => candidate)).toEqual(referenceResult(matrix));
        expect(new Set(kept.flatMap(({ seeds }) => seeds)).size).toBe(front.best.length);
      }),
      { numRuns: pureRuns(500) },
    );
  });

  test('keeps the earlier of equal candidates', () => {
    const kept = removeDominated(
      frontOf([
        [1, 1],
        [1, 1],
      ]),
      () => 1,
    );
    expect(kept.map(({ candidate }) => candidate)).toEqual([0]);
  });
});
