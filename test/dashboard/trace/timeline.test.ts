import { expect, test } from '@jest/globals';
import { timelineOf } from '../../../dashboard/src/ui/trace/timeline.js';

type Calls = Parameters<typeof timelineOf>[0]['calls'];

const at = (ms: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + ms).toISOString();
const calls = (given: { end: number; latency: number | null; step?: string }[]) =>
  given.map(({ end, latency, step }, n) => ({
    call_id: `call_${n}`,
    model: 'm',
    created_at: at(end),
    latency_ms: latency,
    ...(step !== undefined && { step }),
  })) as Calls;

test('a call begins its latency before it was recorded, within its rollout', () => {
  const timeline = timelineOf({
    started_at: at(0),
    completed_at: at(1_000),
    calls: calls([
      { end: 400, latency: 300, step: 'draft' },
      { end: 900, latency: 600 },
    ]),
  });
  expect(timeline).toEqual({
    totalMs: 1_000,
    bars: [
      { id: 'call_0', label: '1 draft', startMs: 100, ms: 300 },
      { id: 'call_1', label: '2 m', startMs: 300, ms: 600 },
    ],
  });
});

test('the scale holds calls before the start and after the end of the rollout', () => {
  const outside = calls([
    { end: 100, latency: 200 },
    { end: 1_500, latency: null },
  ]);
  const { totalMs, bars } = timelineOf({ started_at: at(0), completed_at: at(1_000), calls: outside });
  expect(totalMs).toBe(1_600);
  expect(bars.map(({ startMs, ms }) => [startMs, ms])).toEqual([
    [0, 200],
    [1_600, 0],
  ]);
});

test('a rollout that has not started has no length', () => {
  expect(timelineOf({ started_at: null, completed_at: null, calls: [] })).toEqual({ totalMs: 0, bars: [] });
});
