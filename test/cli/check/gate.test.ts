import { expect, test } from '@jest/globals';
import { refusalsOf, type Gate } from '../../../src/cli/check/gate.js';
import type { Measured, Measurement } from '../../../src/cli/check/measure.js';

const side = (reward: number | null, failed = 0): Measured => ({
  job_id: 'evl_x',
  mean_reward: reward,
  mean_reward_interval: null,
  rows: 20,
  rows_failed: failed,
  rewards: new Map(),
});
const compared = (verdict: string, low: number) => ({ verdict, difference: { mean: low + 0.1, low, high: 1 } });
const measured = (head: Measured, base: Measured | null, comparison: object | null) =>
  ({ head, base, comparison }) as Measurement;

const worse = measured(side(0.4), side(0.6), compared('worse', -0.3));
const noise = measured(side(0.6), side(0.6), compared('inconclusive', -0.1));
test.each<[string, Gate, Measurement, number]>([
  ['worse, without bounds', {}, worse, 1],
  ['noise, without bounds', {}, noise, 0],
  ['worse, within a bound', { minImprovement: -0.5 }, worse, 0],
  ['noise, beyond a bound', { minImprovement: 0 }, noise, 1],
  ['a reward at the bound', { minReward: 0.6 }, noise, 0],
  ['below both bounds', { minReward: 0.7, minImprovement: 0 }, noise, 2],
  ['no reward', { minReward: -1 }, measured(side(null, 20), null, null), 2],
  ['new, with a bound of the improvement', { minImprovement: 0.5 }, measured(side(0.1), null, null), 0],
  ['more failures', {}, measured(side(0.9, 2), side(0.5, 1), compared('better', 0.2)), 1],
  ['as many failures', {}, measured(side(0.9, 1), side(0.5, 1), compared('better', 0.2)), 0],
])('%s', (_, gate, result, refusals) => {
  expect(refusalsOf(gate, result)).toHaveLength(refusals);
});
