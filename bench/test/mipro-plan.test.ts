/** Searches that the bench runs beside DSPy, and where its tables read MIPROv2's totals. */
import { expect, test } from '@jest/globals';
import { tablesOf } from '../curve/summary.js';
import type { Trajectory } from '../curve/trajectory.js';
import { columnsOf, searchesOf, totals } from '../mipro/plan.js';

const options = {
  kinds: 'examples',
  worlds: '3-4',
  feedback: 'yes,no',
  labels: false,
  optimizers: 'mipro-light,ratchet',
};
const wanted = searchesOf(options, 'hash');
const [light, ours] = [wanted[0]!.search, wanted[4]!.search];
const trajectory = (search: typeof light, rollouts: number, ...rewards: number[]): Trajectory<string> => ({
  ...search,
  rollouts,
  steps: rewards.map((trueReward, at) => ({ rollouts: 100 * at, trueReward })),
});

test('each optimizer searches each world with and without feedback; a name that is none is refused', () => {
  expect(wanted.map(({ search }) => [search.optimizer.split(' ')[0], search.kind, search.world])).toEqual(
    ['MIPROv2', 'ratchet'].flatMap((optimizer) =>
      [3, 4].flatMap((world) => [
        [optimizer, 'examples, feedback', world],
        [optimizer, 'examples, rewards only', world],
      ]),
    ),
  );
  expect(() => searchesOf({ ...options, kinds: 'rules' }, '')).toThrow('there is no kind rules');
  expect(() => searchesOf({ ...options, optimizers: 'x' }, '')).toThrow('there is no x');
});

test('what MIPROv2 took in the same world is a budget of ours and a column', () => {
  const known = [trajectory(light, 150, 0.1, 0.3), trajectory(ours, 500, 0.1, 0.4, 0.6)];
  expect(totals(known, ours)).toEqual([150]);
  expect(totals(known, { ...ours, world: 4 })).toEqual([]);
  expect(
    tablesOf(known, columnsOf(known, [200]))
      .split('\n')
      .slice(0, 4),
  ).toEqual([
    '| true reward: mean (sd) | optimizer | worlds | 200 | as light |',
    '| --- | --- | --- | --- | --- |',
    '| examples, feedback | MIPROv2 light (dspy 3.4.1) | 1 | 0.300 | 0.300 |',
    '| examples, feedback | ratchet | 1 | 0.600 | 0.400 |',
  ]);
});
