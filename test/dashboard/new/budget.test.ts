import { expect, test } from '@jest/globals';
import { costOf, timeOf, type Tried } from '../../../dashboard/src/pages/new/form/budget.js';

test('time follows from the rows of a try, cost from the estimate; both may be unknown', () => {
  const row = (latency_ms: number | null, error: object | null = null) => ({ latency_ms, error });
  const failed = row(1, { code: 'upstream_unreachable', message: 'refused' });
  const tried = { rows: [row(1_000), row(3_000), row(null), failed] } as Tried;
  expect(timeOf(200, tried)).toBe(80_000);
  expect(timeOf(200, { rows: [row(null), failed] } as Tried)).toBeNull();
  expect(timeOf(200, null)).toBeNull();
  const cost = { low: 0.1, likely: 0.2, high: 0.4 };
  expect(costOf(600, { rollouts: 200, cost_usd: cost })).toBeCloseTo(0.6);
  expect(costOf(600, { rollouts: 200, cost_usd: null })).toBeNull();
  expect(costOf(600, undefined)).toBeNull();
});
