/** The analysis of small ledgers and candidate lists. */
import { describe, expect, test } from '@jest/globals';
import { reachedLine, wallLine } from '../gepa/lines.js';
import { reachedAfter, rewardSteps, ledgerUsage, type Usage } from '../gepa/timeline.js';

const outcome = { startedAt: 1_000, endedAt: 2_000, rollouts: 4, winner: 'c', candidates: [] };
const call = (kind: 'rollout' | 'proposal', startedAt: number, endedAt: number) => ({ kind, startedAt, endedAt });

test('ledgerUsage reports utilization, gaps, time with proposals only, and maximum concurrency', () => {
  const ledger = [
    call('rollout', 1_100, 1_200),
    call('rollout', 1_150, 1_250),
    call('proposal', 1_300, 1_400),
    call('rollout', 1_400, 1_500),
    call('rollout', 1_800, 1_900),
  ];
  expect(ledgerUsage(ledger, outcome, 2)).toEqual({
    wallMs: 1_000,
    rollouts: 4,
    utilisation: 400 / 2_000,
    gaps: 2,
    meanGapMs: 175,
    idleMs: 50 + 300 + 100 + 100,
    proposingMs: 100,
    maxAtOnce: 2,
    depth: 4,
  });
});

describe('the reward over time', () => {
  const trueReward = (text: string) => Promise.resolve({ a: 0.1, b: 0.4, c: 0.3, d: 0.9 }[text]!);
  const candidates = [
    { at: 1_100, text: 'a', reward: 0.2 },
    { at: 1_200, text: 'b', reward: 0.5 },
    { at: 1_300, text: 'd', reward: 0.5 },
    { at: 1_400, text: 'c', reward: 0.6 },
  ];

  test('is the true reward of the best candidate by evaluation; ties keep the earlier candidate', async () => {
    expect(await rewardSteps({ ...outcome, candidates }, trueReward)).toEqual([
      { afterMs: 100, trueReward: 0.1 },
      { afterMs: 200, trueReward: 0.4 },
      { afterMs: 400, trueReward: 0.3 },
    ]);
  });

  test('reaches a target at the first sufficient step, or never', async () => {
    const steps = await rewardSteps({ ...outcome, candidates }, trueReward);
    expect([0.1, 0.3, 0.4, 0.41].map((target) => reachedAfter(steps, target))).toEqual([100, 200, 200, null]);
  });
});

describe('lines', () => {
  const side = (wallMs: number, reachedMs: number | null) => ({
    usage: { wallMs, rollouts: 100 } as Usage,
    steps: [],
    trueReward: 0.5,
    reachedMs,
  });
  const pair = (ours: number | null, peers: number) => ({
    world: 1,
    ours: side(2_000, ours),
    peer: side(1_000, peers),
  });

  test('a world that never reaches the target counts as the latest', () => {
    const mostly = reachedLine('S', [pair(300, 1_000), pair(400, 1_000), pair(null, 1_000)], '');
    expect(mostly).toMatchObject({ ratio: '0.40', met: 'met' });
    expect(mostly.measured).toContain('in 2 of 3 worlds');
    const seldom = reachedLine('S', [pair(500, 1_000), pair(null, 1_000)], '');
    expect(seldom).toMatchObject({ ratio: 'never reached', met: 'not met' });
    expect(reachedLine('S', [pair(600, 1_000)], '')).toMatchObject({ ratio: '0.60', met: 'not met' });
  });

  test('a missing peer is reported as not shown, without a verdict', () => {
    const alone = [{ world: 1, ours: side(2_000, null), peer: null }];
    expect(reachedLine('S', alone, 'no python3')).toMatchObject({ met: 'no aim', ratio: '' });
    expect(wallLine('S', alone, 'no python3', 30)).toMatchObject({
      measured: '20.0 ms (20.0 to 20.0)',
      beside: 'not shown: gepa 0.1.4: no python3',
      ratio: '',
      met: 'met',
    });
    expect(wallLine('S', alone, 'no python3', 10).met).toBe('not met');
  });
});
