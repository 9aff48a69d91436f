import { expect, test } from '@jest/globals';
import type { sumsOf } from '../../../../dashboard/src/pages/session/why/pareto/points.js';
import { pointsOf, tradeOff } from '../../../../dashboard/src/pages/session/why/pareto/points.js';

type Frame = Parameters<typeof sumsOf>[0][number];

const frame = (id: string, count: number, tokens: number | null, dollars: number | null): Frame => ({
  candidate_id: id,
  sensors: {
    rollout: { count, succeeded: count, failed: 0, resent: 0 },
    reward: null,
    resource: {
      prompt_tokens: tokens,
      completion_tokens: tokens,
      cost_usd: dollars,
      latency_ms_p50: null,
      latency_ms_p95: null,
      latency_ms_max: null,
      concurrency: null,
    },
  },
});
const candidates = [
  { candidate_id: 'a', reward: 0.5 },
  { candidate_id: 'b', reward: 0.9 },
  { candidate_id: 'c', reward: null },
];
const front = [{ candidate_id: 'b', reward: 0.9, seeds_held: 3 }];

test('evaluated candidates have a cost per rollout over all their frames', () => {
  const frames = [frame('b', 4, 100, 0.02), frame('a', 10, 50, 0.04), frame('b', 6, 300, 0.08), frame('c', 1, 1, 1)];
  expect(pointsOf(candidates, frames, front)).toEqual({
    unit: 'dollars',
    points: [
      { candidateId: 'a', cost: 0.004, reward: 0.5, isFront: false },
      { candidateId: 'b', cost: 0.01, reward: 0.9, isFront: true },
    ],
  });
});

test.each([
  ['unknown', null],
  ['nothing', 0],
])('tokens are the cost where a price is %s', (_, price) => {
  const frames = [frame('a', 10, 50, price), frame('b', 10, 100, price), frame('b', 10, 50, 0)];
  const { unit, points } = pointsOf(candidates, frames, front);
  expect(unit).toBe('tokens');
  expect(points.map(({ candidateId, cost }) => [candidateId, cost])).toEqual([
    ['a', 10],
    ['b', 15],
  ]);
});

test('the line leaves out candidates that a cheaper one equals', () => {
  const point = (cost: number, reward: number) => ({ candidateId: `${cost}`, cost, reward, isFront: false });
  const line = tradeOff([point(1, 0.5), point(2, 0.4), point(3, 0.5), point(4, 0.8)]);
  expect(line.map(({ cost }) => cost)).toEqual([1, 4]);
});
