import { expect, test } from '@jest/globals';
import { sharePairs } from '../../../../src/core/gepa/lockstep/minibatch.js';

test('slots share what they have in common, and nothing else', () => {
  expect(
    sharePairs([
      { parent: 0, seeds: [5, 6] },
      { parent: 1, seeds: [5] },
      { parent: 0, seeds: [7, 5] },
    ]),
  ).toEqual({
    pairs: [
      [0, 5],
      [0, 6],
      [1, 5],
      [0, 7],
    ],
    places: [[0, 1], [2], [3, 0]],
  });
});

test('a seed listed twice in one slot is asked twice', () => {
  const { pairs, places } = sharePairs([
    { parent: 0, seeds: [5, 5] },
    { parent: 0, seeds: [5] },
  ]);
  expect(pairs).toEqual([
    [0, 5],
    [0, 5],
  ]);
  expect(places).toEqual([[0, 1], [0]]);
});
