import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isStalled, paceOf } from '../../../src/core/health/pace.js';

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
      const { rolloutsPerMinute: pace } = paceOf(recorded(times), { startedMs: 0, nowMs, remaining: null });
      const counted = times.filter((ms) => ms >= from).length;
      expect(pace).toBeCloseTo((counted * minuteMs) / Math.max(5_000, nowMs - from), 9);
    }),
  );
});

test('ends after what remains, and never where nothing comes or nothing is left', () => {
  const lasts = { lastMs: 100_000, inMinute: 20, before: 40 };
  const at = { startedMs: 0, nowMs: 120_000 };
  // 20 in the minute that ended now.
  expect(paceOf(lasts, { ...at, remaining: 10 })).toEqual({ rolloutsPerMinute: 20, endsMs: 150_000 });
  expect(paceOf(lasts, { ...at, remaining: 0 }).endsMs).toBeNull();
  expect(paceOf(lasts, { ...at, remaining: null }).endsMs).toBeNull();
  expect(paceOf(lasts, { ...at, nowMs: 180_000, remaining: 10 })).toEqual({ rolloutsPerMinute: 0, endsMs: null });
});

test('stands still a minute after the last outcome, or after the start', () => {
  expect([isStalled(null, 0, 59_999), isStalled(null, 0, 60_000)]).toEqual([false, true]);
  expect([isStalled(30_000, 0, 60_000), isStalled(30_000, 0, 90_000)]).toEqual([false, true]);
});
