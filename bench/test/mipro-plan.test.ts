/** The searches of the DSPy bench, and the columns for MIPROv2's total calls. */
import { expect, test } from '@jest/globals';
import { summaryTables } from '../curve/summary.js';
import type { Trajectory } from '../curve/trajectory.js';
import { tableColumns, plannedSearches, totals } from '../mipro/plan.js';

const options = {
  kinds: 'examples',
  worlds: '3-4',
  feedback: 'yes,no',
  labels: false,
  optimizers: 'mipro-light,ratchet',
};
const wanted = plannedSearches(options, 'hash');
const [light, session] = [wanted[0]!.search, wanted[4]!.search];
const trajectory = (search: typeof light, rollouts: number, ...rewards: number[]): Trajectory<string> => ({
  ...search,
  rollouts,
  steps: rewards.map((trueReward, at) => ({ rollouts: 100 * at, trueReward })),
});

test('plans each optimizer in each world with and without feedback; rejects unknown names', () => {
  expect(wanted.map(({ search }) => [search.optimizer.split(' ')[0], search.kind, search.world])).toEqual(
    ['MIPROv2', 'ratchet'].flatMap((optimizer) =>
      [3, 4].flatMap((world) => [
        [optimizer, 'examples, feedback', world],
        [optimizer, 'examples, rewards only', world],
      ]),
    ),
  );
  expect(() => plannedSearches({ ...options, kinds: 'rules' }, '')).toThrow('unknown kind rules');
  expect(() => plannedSearches({ ...options, optimizers: 'x' }, '')).toThrow('unknown optimizer x');
});

test('MIPROv2’s total calls in a world are a budget of the sessions and a table column', () => {
  const known = [trajectory(light, 150, 0.1, 0.3), trajectory(session, 500, 0.1, 0.4, 0.6)];
  expect(totals(known, session)).toEqual([150]);
  expect(totals(known, { ...session, world: 4 })).toEqual([]);
  expect(
    summaryTables(known, tableColumns(known, [200]))
      .split('\n')
      .slice(0, 4),
  ).toEqual([
    '| true reward: mean (sd) | optimizer | worlds | 200 | as light |',
    '| --- | --- | --- | --- | --- |',
    '| examples, feedback | MIPROv2 light (dspy 3.4.1) | 1 | 0.300 | 0.300 |',
    '| examples, feedback | ratchet | 1 | 0.600 | 0.400 |',
  ]);
});
