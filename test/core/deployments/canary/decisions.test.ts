import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { beginCanary, lookAtCanary, type Counts } from '../../../../src/core/deployments/canary/canary.js';
import { countsSince, noCounts, type VersionCounts } from '../../../../src/core/deployments/canary/counts.js';
import { falseDecisions } from '../../../../src/core/deployments/canary/plan.js';
import { addRewards, judgeRewards, noRewards } from '../../../../src/core/deployments/canary/rewards.js';
import type { CanaryPlan } from '../../../../src/core/deployments/canary/plan.js';
import { isOfCanary } from '../../../../src/core/deployments/canary/split.js';
import { addLatency } from '../../../../src/core/math/latency-sketch.js';
import { normal, plan, shares, usual, yes, type Version } from '../../../support/canary-traffic.js';

// Invariants: of equal versions at most 2 of 100 are promoted, and at most 2 are rolled back; a
// version that is better is promoted, and one beyond a bound is rolled back.

/** Three standard errors of a share of 60. */
const margin = 3 * Math.sqrt((0.02 * 0.98) / 60);

describe('equal versions', () => {
  test.each<[string, Version, Partial<CanaryPlan>?]>([
    ['right or wrong', usual],
    ['graded without bounds', { ...usual, reward: normal }],
    [
      'of many errors, under guards without any room',
      { ...usual, errors: 0.2 },
      {
        guard: { errorRate: { maxIncrease: 0 }, p95Latency: { maxRatio: 1 }, cost: { maxRatio: 1 }, metrics: {} },
      },
    ],
  ])('%s: are rarely promoted, and rarely rolled back', (_, version, over = {}) => {
    const { promoted, rolledBack } = shares(version, version, { runs: 60, most: 4_000, over });
    expect(promoted).toBeLessThanOrEqual(falseDecisions.promote + margin);
    expect(rolledBack).toBeLessThanOrEqual(falseDecisions.rollBackByMetric + falseDecisions.rollBackByGuards + margin);
  });
});

describe('a version', () => {
  test('that is better is promoted, and one that is worse is rolled back', () => {
    const better = shares(usual, { ...usual, reward: yes(0.85) }, { runs: 10, most: 8_000 });
    expect(better).toMatchObject({ promoted: 1 });
    const worse = shares(usual, { ...usual, reward: yes(0.5) }, { runs: 10, most: 8_000 });
    expect(worse).toMatchObject({ rolledBack: 1, byGuard: 0 });
  });

  test.each<[string, Partial<Version>]>([
    ['fails', { errors: 1 }],
    ['fails often', { errors: 0.3 }],
    ['is slower', { slow: 3 }],
    ['is dearer', { dear: 3 }],
  ])('that %s is rolled back by a guard', (_, change) => {
    expect(shares(usual, { ...usual, ...change }, { runs: 10, most: 8_000 })).toMatchObject({ byGuard: 1 });
  });

  test('beyond the bound of a metric is rolled back, within it not', () => {
    const metrics = { turns: { maxDecrease: null, maxIncrease: 1 } };
    const guarded = { ...plan, guard: { errorRate: null, p95Latency: null, cost: null, metrics } };
    const of = (mean: number): VersionCounts => ({
      ...noCounts,
      requests: 100,
      metrics: { turns: { count: 100, mean, distances: 100 } },
    });
    const decide = (mean: number) =>
      lookAtCanary(
        guarded,
        beginCanary(0, { live: noCounts, canary: noCounts }),
        { atMs: 1, counts: { live: of(5), canary: of(mean) }, values: [] },
        true,
      ).decision;
    expect(decide(5.5).is).toBe('step');
    expect(decide(8)).toMatchObject({
      is: 'roll_back',
      cause: { finding: { guard: 'metrics.turns', live: 5, canary: 8, bound: 6 } },
    });
  });
});

describe('time', () => {
  const counts = (requests: number): Counts => ({ live: noCounts, canary: { ...noCounts, requests } });
  const held = { ...plan, holdMs: 1_000, steps: [10], maxMs: 10_000 };
  const at = (atMs: number, requests: number, mayAdvance = true, from = beginCanary(0, counts(0)), used = held) =>
    lookAtCanary(used, from, { atMs, counts: counts(requests), values: [] }, mayAdvance);

  test('ends a step with its requests, else it waits, and says so once', () => {
    expect(at(999, 20).decision).toEqual({ is: 'stay', waits: null });
    const waiting = at(1_000, 19);
    expect(waiting.decision).toEqual({ is: 'stay', waits: 'few_requests' });
    expect(at(1_500, 19, true, waiting.state).decision).toEqual({ is: 'stay', waits: null });
    expect(at(2_000, 20, true, waiting.state).decision).toEqual({ is: 'promote', by: 'time' });
    const approved = { ...held, requireApproval: true };
    expect(at(1_000, 20, true, undefined, approved).decision).toEqual({ is: 'await_approval', by: 'time' });
  });

  test('stands while the canary is paused, and undecided at the end rolls back', () => {
    const paused = at(20_000, 5, false);
    expect(paused).toMatchObject({ decision: { is: 'stay' }, state: { heldMs: 0, totalMs: 0 } });
    expect(at(20_500, 5, true, paused.state).state.heldMs).toBe(500);
    expect(at(10_000, 5).decision).toEqual({ is: 'roll_back', cause: { by: 'time' } });
  });
});

test('values of a metric pair within a step, whatever the order of the versions', () => {
  const value = fc.record({ isCanary: fc.boolean(), value: fc.constantFrom(0, 1) });
  fc.assert(
    fc.property(fc.array(value, { maxLength: 300 }), fc.nat(300), (values, cut) => {
      const whole = addRewards(noRewards, values);
      // Plain JSON, folded in at any place.
      const first = JSON.parse(JSON.stringify(addRewards(noRewards, values.slice(0, cut)))) as typeof noRewards;
      expect(addRewards(first, values.slice(cut))).toEqual(whole);
      const [canary, live] = [true, false].map((side) => values.filter(({ isCanary }) => isCanary === side).length);
      expect([whole.canary.count, whole.live.count]).toEqual([canary, live]);
      expect(whole.test?.pairs ?? 0).toBeLessThanOrEqual(Math.min(canary!, Math.max(0, live! - 20)));
      if (canary === 0) expect(judgeRewards(whole)).toBeNull();
    }),
  );
});

test('what was counted since a time is the rest', () => {
  const sum = (values: number[]) => {
    const mean = values.reduce((all, one) => all + one, 0) / Math.max(1, values.length);
    return { count: values.length, mean, distances: values.reduce((all, one) => all + (one - mean) ** 2, 0) };
  };
  const values = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(values, values, (before, after) => {
      const of = (all: number[]): VersionCounts => {
        const latencies = {};
        for (const one of all) addLatency(latencies, one + 10);
        return { ...noCounts, requests: all.length, latencies, metrics: { m: sum(all) } };
      };
      const rest = countsSince(of([...before, ...after]), of(before));
      expect(rest).toMatchObject({ requests: after.length, latencies: of(after).latencies });
      expect(rest.metrics['m']!.mean).toBeCloseTo(sum(after).mean, 9);
      expect(rest.metrics['m']!.distances).toBeCloseTo(sum(after).distances, 6);
    }),
  );
});

test('a unit keeps its version, and gets the new one only once as the share grows', () => {
  const units = Array.from({ length: 10_000 }, (_, unit) => `unit-${unit}`);
  const of = (percent: number) => units.filter((unit) => isOfCanary('dep_1', unit, percent));
  const shown = [1, 10, 50, 100].map(of);
  shown.forEach((some, at) =>
    expect(shown.slice(at).every((more) => some.every((unit) => more.includes(unit)))).toBe(true),
  );
  expect(shown.map((some) => Math.round(some.length / 100))).toEqual([1, 10, 50, 100]);
  expect(of(50).filter((unit) => isOfCanary('dep_2', unit, 50)).length / 5_000).toBeCloseTo(0.5, 1);
});
