import { describe, expect, test } from '@jest/globals';
import { gate } from '../../../../src/core/gepa/lockstep/accept.js';

const child = (candidate: number, parentSum: number, childSum: number) => ({ candidate, parentSum, childSum });

describe('gate', () => {
  test('strictly better is evaluated, equal and worse are not', () => {
    expect(gate([child(1, 1, 2), child(2, 1, 1), child(3, 1, 0.5)], 9)).toEqual(
      new Map([
        [1, null],
        [2, 'not_better'],
        [3, 'not_better'],
      ]),
    );
  });

  test('rounding is no gain', () => {
    expect(gate([child(1, 0.3, 0.1 + 0.2)], 9).get(1)).toBe('not_better');
  });

  test('the greatest gains go first, of equals the earlier, the others fall to the budget', () => {
    const children = [child(4, 0, 1), child(5, 0, 2), child(6, 1, 2), child(7, 2, 1)];
    expect(gate(children, 2)).toEqual(
      new Map([
        [4, null],
        [5, null],
        [6, 'budget'],
        [7, 'not_better'],
      ]),
    );
    expect(gate(children, 0).get(5)).toBe('budget');
    expect(gate(children, Infinity).get(6)).toBeNull();
  });
});
