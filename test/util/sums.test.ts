import { expect, test } from '@jest/globals';
import { plus, sumOf } from '../../src/util/sums.js';

test.each<[(number | null)[], number | null]>([
  [[], 0],
  [[1, 2], 3],
  [[1, null, 2], null],
])('the sum of %j is %s', (values, sum) => expect(sumOf(values, (value) => value)).toBe(sum));

test('one unknown makes two unknown', () =>
  expect([plus(1, 2), plus(null, 2), plus(1, null)]).toEqual([3, null, null]));
