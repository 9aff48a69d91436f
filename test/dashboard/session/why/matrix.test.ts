import { expect, test } from '@jest/globals';
import type { Event } from '../../../../src/client/index.js';
import { colorOf, pixelsOf } from '../../../../dashboard/src/pages/session/why/heat/colors.js';
import { RewardMatrix } from '../../../../dashboard/src/pages/session/why/heat/matrix.js';
import { orderOf } from '../../../../dashboard/src/pages/session/why/heat/order.js';
import { moved } from '../../../../dashboard/src/pages/session/why/heat/place.js';

type Rollout = Extract<Event, { type: 'rollout_completed' }>['data'];
let rollouts = 0;
const rollout = (
  candidate: string | null,
  seed: number | null,
  reward: number | null,
  stage: Rollout['stage'] = 'gate',
) => {
  const status = reward === null ? 'failed' : 'succeeded';
  const data = { candidate_id: candidate, seed, reward, stage, status, trace_id: `rol_${(rollouts += 1)}` };
  return { type: 'rollout_completed', data } as Event;
};
const matrixOf = (...events: Event[]): RewardMatrix => {
  rollouts = 0;
  const matrix = new RewardMatrix('c_0');
  for (const event of events) matrix.add(event);
  return matrix;
};

test('a cell has the mean of its rollouts, its failures and its latest trace', () => {
  const at = (candidate: string, reward: number | null) => rollout(candidate, 7, reward);
  const matrix = matrixOf(at('c_0', 1), at('c_0', 0.5), at('c_0', null), at('c_1', null), rollout('c_1', 8, 0));
  expect(matrix.cell(0, 0)).toEqual({ reward: 0.75, succeeded: 2, failed: 1, traceId: 'rol_3' });
  expect(matrix.cell(0, 1)).toEqual({ reward: null, succeeded: 0, failed: 1, traceId: 'rol_4' });
  expect(matrix.cell(1, 0)).toBeNull();
  expect([matrix.value(0, 0), matrix.value(0, 1), matrix.value(1, 0), matrix.value(1, 1)]).toEqual([
    0.75,
    -Infinity,
    NaN,
    0,
  ]);
});

test('rollouts before the baseline is known are those of the baseline; those without a seed have no row', () => {
  const matrix = matrixOf(rollout(null, 1, 1), rollout('c_0', 2, 0), rollout('c_0', null, 1));
  expect([matrix.candidateIds, matrix.seeds]).toEqual([['c_0'], [1, 2]]);
});

test('500 candidates on 1,000 rows keep every reward', () => {
  const matrix = new RewardMatrix(null);
  for (let candidate = 0; candidate < 500; candidate += 1)
    for (let seed = candidate % 2; seed < 1_000; seed += 2)
      matrix.add(rollout(`c_${candidate}`, seed, (candidate * seed) / 499_500));
  expect([matrix.candidateIds.length, matrix.seeds.length]).toEqual([500, 1_000]);
  const row = (seed: number) => matrix.seeds.indexOf(seed);
  expect(matrix.value(row(999), 499)).toBeCloseTo((499 * 999) / 499_500);
  expect(matrix.value(row(1), 499)).toBeCloseTo(499 / 499_500, 8);
  expect(matrix.value(row(998), 499)).toBeNaN();
});

test('the hardest rows are first, the best candidates first; unknown rewards come last, by their cells', () => {
  const cells: [string, number, number | null][] = [
    ...([
      ['a', 1, 1],
      ['a', 2, 0],
      ['a', 3, 1],
    ] as [string, number, number][]),
    ...([
      ['b', 1, 1],
      ['b', 2, null],
      ['b', 3, 0],
    ] as [string, number, number | null][]),
    ['c', 3, 0],
    ['d', 1, 1],
  ];
  const matrix = matrixOf(...cells.map(([id, seed, reward]) => rollout(id, seed, reward)));
  const { rows, columns } = orderOf(
    matrix,
    new Map([
      ['a', 0.4],
      ['b', 0.6],
      ['c', null],
    ]),
    null,
  );
  expect(rows.map((row) => matrix.seeds[row])).toEqual([2, 3, 1]);
  expect(columns.map((column) => matrix.candidateIds[column])).toEqual(['b', 'a', 'd', 'c']);
});

test('the rows of a part, with the candidates that ran on them', () => {
  const matrix = matrixOf(
    rollout('a', 1, 1, 'evaluation'),
    rollout('a', 2, 1, 'minibatch'),
    rollout('b', 2, 1, 'gate'),
    rollout('b', 2, 1, 'baseline'),
    rollout('a', 3, 1, 'heldout'),
  );
  const shown = (part: 'train' | 'evaluation' | 'heldout') => orderOf(matrix, new Map(), part);
  expect(shown('train').rows.map((row) => matrix.seeds[row])).toEqual([2]);
  expect(shown('evaluation').rows.map((row) => matrix.seeds[row])).toEqual([1, 2]);
  expect(shown('heldout')).toEqual({ rows: [2], columns: [0] });
});

test('missing, failed, worst and best cells have four different pixels', () => {
  const matrix = matrixOf(rollout('a', 1, 0), rollout('a', 2, 1), rollout('b', 1, null));
  const pixels = pixelsOf(matrix, { rows: [0, 1], columns: [0, 1] });
  const cells = [0, 4, 8, 12].map((at) => [...pixels.slice(at, at + 4)]);
  expect(cells[3]).toEqual([0, 0, 0, 0]);
  expect(new Set(cells.map(String)).size).toBe(4);
  expect(cells.slice(0, 3).map((cell) => cell[3])).toEqual([255, 255, 255]);
  expect([colorOf(-2, -2, 2), colorOf(2, -2, 2), colorOf(9, -2, 2)]).toEqual([
    colorOf(0, 0, 1),
    colorOf(1, 0, 1),
    colorOf(1, 0, 1),
  ]);
});

test('keys stay in the map', () => {
  const from = { row: 4, column: 1 };
  expect(moved(null, 'ArrowDown', 5, 2)).toEqual({ row: 0, column: 0 });
  expect(moved(from, 'ArrowRight', 5, 2)).toEqual(from);
  expect(moved(from, 'PageUp', 5, 2)).toEqual({ row: 0, column: 1 });
  expect(moved(from, 'Home', 5, 2)).toEqual({ row: 4, column: 0 });
  expect(moved(from, 'x', 5, 2)).toBeUndefined();
});
