import { describe, expect, test } from '@jest/globals';
import {
  choosePairs,
  pairsOf,
  rowsOfRollouts,
  type Rollout,
  type SideRow,
} from '../../../dashboard/src/pages/compare/rows.js';

const side = (seed: number, reward: number | null, isSelected = false): SideRow => ({
  seed,
  reward,
  isSelected,
  traceId: `rol_${seed}`,
  feedback: null,
});
const rollout = (seed: number, reward: number | null, traceId: string, fields: Partial<Rollout> = {}): Rollout => ({
  seed,
  reward,
  traceId,
  isSelected: false,
  feedback: null,
  isFinished: true,
  ...fields,
});

describe('rows of a side', () => {
  test('a seed has the mean of its succeeded rollouts and the trace of the last', () => {
    const rows = rowsOfRollouts([
      rollout(1, 0.5, 'rol_a', { isSelected: true }),
      rollout(2, null, 'rol_b'),
      rollout(1, 1, 'rol_c'),
      rollout(1, null, 'rol_d'),
      rollout(3, null, 'rol_e', { isFinished: false }),
    ]);
    expect(rows.map(({ seed, reward, traceId, isSelected }) => [seed, reward, traceId, isSelected])).toEqual([
      [1, 0.75, 'rol_d', true],
      [2, null, 'rol_b', false],
    ]);
  });
});

describe('pairs of two sides', () => {
  const a = [side(1, 0), side(2, 1), side(3, 0.5), side(4, null), side(5, 1)];
  const b = [side(5, 1), side(3, 1, true), side(2, 0.2), side(1, 1), side(4, 1), side(6, 1)];
  const seeds = (compared: number) => pairsOf(a, b, compared).map(({ seed }) => seed);

  test('common seeds with a reward on both sides, without those a search selected on', () => {
    expect(seeds(3)).toEqual([1, 2, 5]);
  });

  test('all common seeds if the service compared others', () => {
    expect(seeds(4)).toEqual([1, 2, 3, 5]);
  });

  test('losses or gains of b come first; an outcome alone', () => {
    const pairs = pairsOf(a, b, 4);
    const chosen = (...[outcome, order]: [Parameters<typeof choosePairs>[1], Parameters<typeof choosePairs>[2]]) =>
      choosePairs(pairs, outcome, order).map(({ seed }) => seed);
    expect(chosen('all', 'lost')).toEqual([2, 5, 3, 1]);
    expect(chosen('all', 'won')).toEqual([1, 3, 5, 2]);
    expect(chosen('all', 'row')).toEqual([1, 2, 3, 5]);
    expect([chosen('won', 'lost'), chosen('lost', 'lost'), chosen('tied', 'lost')]).toEqual([[3, 1], [2], [5]]);
  });
});
