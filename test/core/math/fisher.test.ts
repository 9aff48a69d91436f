import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fisherP } from '../../../src/core/math/fisher.js';
import { pureRuns } from '../../support/runs.js';

describe("Fisher's exact test", () => {
  // By hand, and as R's fisher.test gives them.
  test.each([
    [3, 4, 1, 4, 0.4857143],
    [0, 20, 5, 20, 0.0471245],
    [1, 10, 9, 10, 0.001093368],
    [5, 5, 0, 5, 0.007936508],
  ])('%i of %i beside %i of %i', (won, count, otherWon, otherCount, expected) => {
    expect(fisherP(won, count, otherWon, otherCount)).toBeCloseTo(expected, 6);
  });

  test('is 1 for equal shares of equal counts, and the same for the sides exchanged', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.nat(60), fc.nat(60), fc.nat(60), (a, b, c, d) => {
        const p = fisherP(a, a + b, c, c + d);
        expect(p).toBeGreaterThan(0);
        expect(p).toBeCloseTo(fisherP(c, c + d, a, a + b), 9);
        expect(fisherP(a, a + b, a, a + b)).toBeCloseTo(1, 9);
      }),
      { numRuns: pureRuns(200) },
    );
  });
});
