import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { firstEnd, isStalled, paceOf } from '../../../src/core/health/pace.js';

const minuteMs = 60_000;

/** The record of outcomes at these times, as the control row keeps it. */
function recorded(times: readonly number[]) {
  const minute = (ms: number) => Math.floor(ms / minuteMs);
  const lastMs = times.at(-1) ?? null;
  if (lastMs === null) return { lastMs, inMinute: 0, before: 0 };
  const within = (n: number) => times.filter((ms) => minute(ms) === n).length;
  return { lastMs, inMinute: within(minute(lastMs)), before: within(minute(lastMs) - 1) };
}

test('is the outcomes of the current minute and the one before by their time', () => {
  const time = fc.integer({ min: 0, max: 5 * minuteMs });
  fc.assert(
    fc.property(fc.array(time, { maxLength: 50 }), time, (all, later) => {
      const times = [...all].sort((a, b) => a - b);
      const nowMs = (times.at(-1) ?? 0) + later;
      const from = Math.max(0, (Math.floor(nowMs / minuteMs) - 1) * minuteMs);
      const pace = paceOf(recorded(times), { startedMs: 0, nowMs });
      const counted = times.filter((ms) => ms >= from).length;
      expect(pace).toBeCloseTo((counted * minuteMs) / Math.max(5_000, nowMs - from), 9);
    }),
  );
});

test('forgets the minutes before the last two', () => {
  const lasts = { lastMs: 100_000, inMinute: 20, before: 40 };
  // 20 in the minute that ended now.
  expect(paceOf(lasts, { startedMs: 0, nowMs: 120_000 })).toBe(20);
  expect(paceOf(lasts, { startedMs: 0, nowMs: 180_000 })).toBe(0);
});

test('ends by the limit that is reached first, and never where nothing comes or nothing is left', () => {
  const rollouts = { by: 'rollouts', left: 10, perHour: 1_200 };
  const dollars = { by: 'dollars', left: 0.5, perHour: 120 };
  expect(firstEnd([rollouts], 120_000)).toEqual({ by: 'rollouts', atMs: 150_000 });
  expect(firstEnd([rollouts, dollars], 120_000)).toEqual({ by: 'dollars', atMs: 135_000 });
  expect(
    firstEnd(
      [
        { ...rollouts, perHour: 0 },
        { ...dollars, perHour: null },
      ],
      0,
    ),
  ).toBeNull();
  expect(
    firstEnd(
      [
        { ...rollouts, left: 0 },
        { ...dollars, left: null },
      ],
      0,
    ),
  ).toBeNull();
});

test('stands still a minute after the last outcome, or after the start', () => {
  expect([isStalled(null, 0, 59_999), isStalled(null, 0, 60_000)]).toEqual([false, true]);
  expect([isStalled(30_000, 0, 60_000), isStalled(30_000, 0, 90_000)]).toEqual([false, true]);
  // Resumed after its last outcome.
  expect([isStalled(30_000, 80_000, 90_000), isStalled(30_000, 80_000, 140_000)]).toEqual([false, true]);
});
