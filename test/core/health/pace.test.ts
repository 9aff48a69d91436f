import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { firstEnd, isStalled, paceOf, recentOf, recentPaceOf } from '../../../src/core/health/pace.js';

const minuteMs = 60_000;

/** The record of outcomes at these times, as the control row keeps it. */
function recorded(times: readonly number[]) {
  const minute = (ms: number) => Math.floor(ms / minuteMs);
  const [completed, lastMs] = [times.length, times.at(-1) ?? null];
  if (lastMs === null) return { completed, lastMs, inMinute: 0, before: 0 };
  const within = (n: number) => times.filter((ms) => minute(ms) === n).length;
  return { completed, lastMs, inMinute: within(minute(lastMs)), before: within(minute(lastMs) - 1) };
}

const time = fc.integer({ min: 0, max: 5 * minuteMs });
const outcomes = fc.array(time, { maxLength: 50 }).map((all) => all.sort((a, b) => a - b));

test('is the outcomes of the current minute and the one before by their time, or not known', () => {
  fc.assert(
    fc.property(outcomes, time, time, (times, wentOnMs, later) => {
      const startedMs = times[0] ?? 0;
      const sinceMs = Math.max(startedMs, wentOnMs);
      const nowMs = Math.max(sinceMs, times.at(-1) ?? 0) + later;
      const pace = paceOf(recorded(times), { startedMs, sinceMs, nowMs });
      if (pace === null) return;
      const isFirst = sinceMs === startedMs;
      const whole = Math.ceil(sinceMs / minuteMs) * minuteMs;
      const from = Math.max((Math.floor(nowMs / minuteMs) - 1) * minuteMs, isFirst ? sinceMs : whole);
      expect(nowMs - from).toBeGreaterThanOrEqual(3_000);
      expect(times.length).toBeGreaterThanOrEqual(3);
      const counted = times.filter((ms) => ms >= from).length;
      expect(pace).toBeCloseTo((counted * minuteMs) / (nowMs - from), 9);
    }),
  );
});

test('is not known before three outcomes and three seconds, nor in the minute of a resumption', () => {
  const at = (times: number[], nowMs: number, sinceMs = 0) => paceOf(recorded(times), { startedMs: 0, sinceMs, nowMs });
  expect([at([500, 600], 10_000), at([500, 600, 700], 2_999), at([500, 600, 700], 6_000)]).toEqual([null, null, 30]);
  expect([at([500, 600, 700], 59_000, 20_000), at([500, 600, 700], 66_000, 20_000)]).toEqual([null, 0]);
});

test('forgets the minutes before the last two', () => {
  const lasts = { completed: 100, lastMs: 100_000, inMinute: 20, before: 40 };
  // 20 in the minute that ended now.
  expect(paceOf(lasts, { startedMs: 0, sinceMs: 0, nowMs: 120_000 })).toBe(20);
  expect(paceOf(lasts, { startedMs: 0, sinceMs: 0, nowMs: 180_000 })).toBe(0);
});

test('a steady run has its pace from the first seconds on, at any speed and after a change of it', () => {
  const gap = fc.integer({ min: 20, max: 90_000 });
  fc.assert(
    fc.property(gap, gap, fc.integer({ min: 0, max: 60 }), (before, lately, slower) => {
      const early = Array.from({ length: slower }, (_, n) => (n + 1) * before);
      const changedMs = early.at(-1) ?? 0;
      // Long enough for all that counts as lately.
      const many = Math.ceil(Math.max(20_000 / lately, 10)) + 1;
      const times = [...early, ...Array.from({ length: many }, (_, n) => changedMs + (n + 1) * lately)];
      const pace = recentPaceOf(recentOf(times), { sinceMs: 0, nowMs: times.at(-1)! })!;
      expect(Math.abs(pace - minuteMs / lately) / (minuteMs / lately)).toBeLessThan(0.11);
    }),
  );
});

test('lately is never a longer time than the run, and what is forgotten changes nothing', () => {
  fc.assert(
    fc.property(outcomes, time, time, (times, sinceMs, later) => {
      const nowMs = Math.max(sinceMs, times.at(-1) ?? 0) + later;
      const pace = recentPaceOf(times, { sinceMs, nowMs });
      expect(recentPaceOf(recentOf(times), { sinceMs, nowMs })).toBe(pace);
      const own = times.filter((ms) => ms > sinceMs).length;
      if (own < 3 || nowMs - sinceMs < 3_000) expect(pace).toBeNull();
      // All of it is recent: the pace is the mean of the run.
      else if (nowMs - sinceMs <= 20_000) expect(pace).toBeCloseTo((own * minuteMs) / (nowMs - sinceMs), 9);
    }),
  );
  // 143 answers in 8.7 s, which were shown as 0.2 a second.
  const times = Array.from({ length: 143 }, (_, n) => ((n + 1) * 8_700) / 143);
  expect(recentPaceOf(times, { sinceMs: 0, nowMs: 8_700 })! / 60).toBeCloseTo(16.4, 1);
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
