import { describe, expect, test } from '@jest/globals';
import { firstReward, firstRewardName } from '../../../src/core/comparisons/first-reward.js';

const interval = { low: 0.7, high: 0.9 };
const best = { best_reward: 0.85, best_reward_interval: interval, baseline_reward: 0.4 };
const comparison = {
  basis: 'heldout' as const,
  seeds: 33,
  baseline_reward: 0.36,
  winner_reward: 0.91,
  winner_interval: { low: 0.76, high: 0.98 },
};

describe('the reward that is shown first', () => {
  test('is that on held-out rows, whatever the search measured', () => {
    expect(firstReward({ comparison, ...best }, 27)).toEqual({
      ...{ reward: 0.91, interval: { low: 0.76, high: 0.98 }, baseline: 0.36, isHeldOut: true, rows: 33 },
    });
  });

  test('is else an estimate on the rows that the search saw', () => {
    expect(firstReward({ comparison: { ...comparison, basis: 'evaluation', seeds: 27 }, ...best })).toMatchObject({
      ...{ reward: 0.91, isHeldOut: false, rows: 27 },
    });
    expect(firstReward({ comparison: null, ...best }, 27)).toEqual({
      ...{ reward: 0.85, interval, baseline: 0.4, isHeldOut: false, rows: 27 },
    });
    expect(firstReward({ comparison: null, best_reward: null })).toBeNull();
  });

  test.each([
    [true, 33, 'row', 'Reward on 33 held-out rows'],
    [true, 1, 'task', 'Reward on 1 held-out task'],
    [false, 1_200, 'row', 'Estimate on 1,200 rows that the search saw'],
    [false, null, 'task', 'Estimate on tasks that the search saw'],
  ] as const)('is named by its rows: %s, %s %s', (isHeldOut, rows, unit, name) => {
    expect(firstRewardName({ isHeldOut, rows }, unit)).toBe(name);
  });
});
