import { expect, test } from '@jest/globals';
import { composeTexts } from '../../../src/core/proposals/compose.js';

const textsOf = (candidate: number) => ({ system: `s${candidate}`, user: `u${candidate}` });

test.each([
  [[3, 1], { texts: { system: 's3', user: 'u1' }, parents: [1, 3] }],
  [[0, 2], { texts: { system: 's0', user: 'u2' }, parents: [2] }],
  [[2, 2], { texts: { system: 's2', user: 'u2' }, parents: [2] }],
  [[0, 0], { texts: { system: 's0', user: 'u0' }, parents: [0] }],
])('composeTexts takes each component from its source: %j', (sources, expected) => {
  expect(composeTexts(['system', 'user'], sources, textsOf)).toEqual(expected);
});
