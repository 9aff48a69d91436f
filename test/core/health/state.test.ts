import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addLatency, type LatencyCounts } from '../../../src/core/math/latency-sketch.js';
import { forgottenMs, healthOf, peakOf, type Minute } from '../../../src/core/health/state.js';

// Invariants: a state begins with its first bad call; shares between the two bounds change none;
// calls without trouble are well; the state is that of the latest calls, whatever came before.

const minuteMs = 60_000;
const endOf = (minutes: readonly Minute[]) => (minutes.at(-1)?.startMs ?? 0) + minuteMs;

interface Calls {
  calls?: number;
  throttled?: number;
  failed?: number;
  ms?: number;
  /** The largest share of throttled calls within the minute; default: that of all of it. */
  peak?: number;
}

/** Consecutive minutes from the first one. */
function minutesOf(all: readonly Calls[], from = 0): Minute[] {
  return all.map(({ calls = 60, throttled = 0, failed = 0, ms = 100, peak }, index) => {
    const startMs = (from + index) * minuteMs;
    const latencies: LatencyCounts = {};
    for (let n = throttled + failed; n < calls; n += 1) addLatency(latencies, ms);
    return {
      startMs,
      calls,
      throttled,
      failed,
      throttledPeak: peak ?? peakOf(throttled, calls),
      failedPeak: peakOf(failed, calls),
      latencies,
      troubledMs: throttled + failed > 0 ? startMs + 7_000 : null,
    };
  });
}

const stateOf = (all: readonly Calls[]) => {
  const minutes = minutesOf(all);
  return healthOf(minutes, endOf(minutes));
};
const well = Array<Calls>(5).fill({});

test('is well without calls, and with calls of any number and length', () => {
  expect(healthOf([], 0)).toEqual({ state: 'ok', sinceMs: null });
  fc.assert(
    fc.property(
      fc.array(fc.record({ calls: fc.integer({ min: 1, max: 200 }), ms: fc.constantFrom(100, 120, 150) })),
      (all) => expect(stateOf(all)).toEqual({ state: 'ok', sinceMs: null }),
    ),
  );
});

test.each([
  ['throttled', { throttled: 30 }],
  ['failing', { failed: 30 }],
] as const)('is %s since its first bad call, and well again with well calls', (state, bad) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 200 }), (before, during) => {
      const begin = Array<Calls>(before).fill({});
      const trouble = Array<Calls>(during).fill(bad);
      expect(stateOf([...begin, ...trouble])).toEqual({ state, sinceMs: before * minuteMs + 7_000 });
      expect(stateOf([...begin, ...trouble, {}])).toEqual({ state: 'ok', sinceMs: (before + during) * minuteMs });
    }),
  );
});

test('is slow against its usual median, and not where nothing is usual', () => {
  const slow = { ms: 2_000 };
  expect(stateOf([...well, slow, slow])).toEqual({ state: 'slow', sinceMs: 5 * minuteMs });
  expect(stateOf([slow, slow, slow]).state).toBe('ok');
  expect(stateOf([...well, slow, {}])).toEqual({ state: 'ok', sinceMs: 6 * minuteMs });
  // Three times as long, and yet no time.
  expect(stateOf([...well, { ms: 900 }]).state).toBe('ok');
  // A trouble leaves no answers to be slow.
  expect(stateOf([...well, slow, { throttled: 60 }]).state).toBe('throttled');
});

describe('does not flap', () => {
  const between = (state: 'throttled' | 'failed', low: number, high: number) =>
    fc
      .array(fc.integer({ min: low, max: high }), { minLength: 1, maxLength: 40 })
      .map((counts) => counts.map((n) => ({ calls: 100, [state]: n })));

  test.each([
    ['throttled', 'throttled', 5, 9],
    ['failing', 'failed', 10, 19],
  ] as const)('while the share of the %s is between the bounds', (state, field, low, high) => {
    fc.assert(
      fc.property(between(field, low, high), (all) => {
        expect(stateOf(all).state).toBe('ok');
        expect(stateOf([{ [field]: 60 }, ...all])).toEqual({ state, sinceMs: 7_000 });
      }),
    );
  });

  test('within a minute: what began lasts to its end', () => {
    const passed = { calls: 1_000, throttled: 4, peak: 0.2 };
    expect(stateOf([...well, passed])).toEqual({ state: 'throttled', sinceMs: 5 * minuteMs + 7_000 });
    expect(stateOf([...well, passed, {}])).toEqual({ state: 'ok', sinceMs: 6 * minuteMs });
    expect([peakOf(3, 19), peakOf(2, 20), peakOf(3, 20)]).toEqual([0, 0, 0.15]);
  });

  test('with two bad calls, however few there are', () => {
    expect(stateOf([...well, { calls: 2, failed: 2 }]).state).toBe('ok');
    expect(
      stateOf([
        { calls: 1, failed: 1 },
        { calls: 1, failed: 1 },
        { calls: 1, failed: 1 },
      ]),
    ).toEqual({
      state: 'failing',
      sinceMs: 7_000,
    });
  });
});

test('is forgotten after a quarter of an hour without a call', () => {
  const bad = minutesOf([{ failed: 60 }]);
  expect(healthOf(bad, forgottenMs).state).toBe('failing');
  expect(healthOf(bad, forgottenMs + 1)).toEqual({ state: 'ok', sinceMs: null });
  expect(healthOf([...bad, ...minutesOf([{}], 16)], 17 * minuteMs)).toEqual({ state: 'ok', sinceMs: null });
});

test('is that of the latest calls, whatever came before', () => {
  const any = fc.record({
    calls: fc.integer({ min: 20, max: 100 }),
    throttled: fc.integer({ min: 0, max: 10 }),
    failed: fc.integer({ min: 0, max: 10 }),
    ms: fc.integer({ min: 1, max: 5_000 }),
  });
  fc.assert(
    fc.property(fc.array(any, { maxLength: 30 }), (before) => {
      expect(stateOf([...before, { failed: 60 }]).state).toBe('failing');
      expect(stateOf([...before, { throttled: 60 }]).state).toBe('throttled');
      expect(stateOf([...before, { calls: 60, ms: 1 }]).state).toBe('ok');
    }),
  );
});
