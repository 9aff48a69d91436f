import { expect, test } from '@jest/globals';
import { hasInterval, verdictOf } from '../../../dashboard/src/pages/compare/verdict.js';

const difference = (mean: number) => ({ mean, low: mean - 0.1, high: mean + 0.1 });

test.each([
  ['better', 0.25, null, 'B is better than A by 0.250 on 20 common rows.'],
  ['worse', -0.25, null, 'B is worse than A by 0.250 on 20 common rows.'],
  [
    'inconclusive',
    -0.05,
    90,
    'B differs from A by −0.050 on 20 common rows, which chance alone may explain. About 90 rows would decide it.',
  ],
] as const)('%s, as a sentence', (verdict, mean, needed, sentence) => {
  expect(verdictOf({ verdict, difference: difference(mean), seeds_compared: 20, rows_needed: needed })).toBe(sentence);
});

test('the largest numbers stand for no interval', () => {
  const largest = Number.MAX_VALUE;
  expect(hasInterval({ difference: { mean: 0.5, low: -largest, high: largest } })).toBe(false);
  expect(hasInterval({ difference: difference(0.5) })).toBe(true);
});
