import { expect, test } from '@jest/globals';
import { pointsOf, priceOf, type Efficient } from '../../../dashboard/src/pages/graph/cost-front.js';

const candidate = (reward: number, cost: number | null, tokens: number | null, calls: number): Efficient => ({
  candidate_id: `cand_${calls}`,
  reward,
  cost_usd: cost,
  tokens,
  calls,
});

test.each([
  ['known prices', [candidate(0, 0.1, 10, 1), candidate(1, 0.2, 20, 2)], 'cost_usd'],
  ['free models', [candidate(0, 0, 10, 1), candidate(1, 0, 20, 2)], 'tokens'],
  ['an unknown price', [candidate(0, 0.1, 10, 1), candidate(1, null, 20, 2)], 'tokens'],
  ['unknown tokens, too', [candidate(0, null, null, 1), candidate(1, null, 20, 2)], 'calls'],
] as const)('the axis of %s', (_, front, price) => {
  expect(priceOf(front)).toBe(price);
});

test('points rise in price, and a candidate without one has no point', () => {
  const front = [candidate(1, 0.2, 20, 2), candidate(0.5, null, 15, 3), candidate(0, 0.1, 10, 1)];
  expect(pointsOf(front, 'cost_usd').columns).toEqual([
    [0.1, 0.2],
    [0, 1],
  ]);
});
