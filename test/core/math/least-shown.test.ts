import { expect, test } from '@jest/globals';
import { leastShown, rowsForTenth } from '../../../src/core/math/least-shown.js';

test.each([
  [1, null],
  [2, null],
  [3, null],
  [15, 5 / 15],
  [40, 7 / 40],
  [90, 9 / 90],
  [200, 12 / 200],
])('on %d rows', (rows, least) => {
  expect(leastShown(rows)).toEqual(least === null ? null : expect.closeTo(least, 9));
});

test('the rows for a tenth are the fewest tens that show it', () => {
  expect(leastShown(rowsForTenth)).toBeLessThanOrEqual(0.1 + 1e-9);
  for (let rows = 10; rows < rowsForTenth; rows += 10) expect(leastShown(rows)).toBeGreaterThan(0.1);
});
