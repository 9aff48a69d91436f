import { expect, test } from '@jest/globals';
import { counted, signed } from '../../../src/core/math/words.js';

test.each([
  [0.1234, '+0.123'],
  [-0.05, '−0.050'],
  [-0.0001, '−0.000'],
  [0, '0.000'],
  [-0, '0.000'],
  [Number.MAX_VALUE, '+∞'],
  [-Number.MAX_VALUE, '−∞'],
])('the difference %p is %s', (value, text) => {
  expect(signed(value)).toBe(text);
});

test.each([
  [1, '1 row'],
  [0, '0 rows'],
  [1_234, '1,234 rows'],
])('%p rows are %s', (count, text) => {
  expect(counted(count, 'row')).toBe(text);
});
