import { expect, test } from '@jest/globals';
import { hasInterval, verdictOf } from '../../../dashboard/src/pages/compare/verdict.js';

const difference = (mean: number) => ({ mean, low: mean - 0.1, high: mean + 0.1 });

test.each([
  ['better', 0.25, 'B is better than A by 0.250 on 20 common rows.'],
  ['worse', -0.25, 'B is worse than A by 0.250 on 20 common rows.'],
  ['not_significantly_better', -0.05, 'B differs from A by −0.050 on 20 common rows, which chance alone may explain.'],
] as const)('%s, as a sentence', (verdict, mean, sentence) => {
  expect(verdictOf({ verdict, difference: difference(mean), seeds_compared: 20 })).toBe(sentence);
});

test('the largest numbers stand for no interval', () => {
  const largest = Number.MAX_VALUE;
  expect(hasInterval({ difference: { mean: 0.5, low: -largest, high: largest } })).toBe(false);
  expect(hasInterval({ difference: difference(0.5) })).toBe(true);
});
