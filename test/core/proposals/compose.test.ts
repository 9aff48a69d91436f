import { expect, test } from '@jest/globals';
import { composeTexts } from '../../../src/core/proposals/compose.js';

const textsOf = (candidate: number) => ({ system: `s${candidate}`, user: `u${candidate}` });

test.each([
  [[3, 1], { system: 's3', user: 'u1' }],
  [[0, 2], { system: 's0', user: 'u2' }],
])('composeTexts takes each component from its source: %j', (sources, expected) => {
  expect(composeTexts(['system', 'user'], sources, textsOf)).toEqual(expected);
});
