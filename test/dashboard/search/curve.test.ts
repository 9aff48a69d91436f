/** The curve of a session: what its points are, and where they stand on each axis. */
import { expect, test } from '@jest/globals';
import { columnsOf, Curve, marksOf } from '../../../dashboard/src/pages/search/curve.js';
import type { Event } from '../../../src/client/index.js';

const minute = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString();
const event = (type: string, at: number, data: object = {}): Event =>
  ({ type, seq: 1, ts: minute(at), job_id: 'ses_1', message: '', data }) as unknown as Event;
const rollout = (at: number, completed: number) => event('rollout_completed', at, { completed });
const evaluated = (at: number, id: string, reward: number) =>
  event('candidate_evaluated', at, { candidate_id: id, reward, generation: 0, seeds_evaluated: 2 });
const generation = (at: number, rollouts: number, estimate: number, best: number, cost: number | null) =>
  event('generation_complete', at, {
    generation: 0,
    best_reward: best,
    best_candidate_id: 'c0',
    rollouts_completed: rollouts,
    estimated_reward: estimate,
    estimated_reward_interval: { low: estimate - 0.1, high: estimate + 0.1 },
    cost_usd: cost,
  });

function curveOf(events: Event[]): Curve {
  const curve = new Curve();
  for (const each of events) curve.add(each);
  return curve;
}

const search = [
  event('session_started', 0),
  rollout(1, 2),
  evaluated(1, 'c0', 0.25),
  generation(1, 2, 0.25, 0.25, 0.01),
  generation(2, 5, 0.5, 0.25, 0.02),
  rollout(3, 9),
  evaluated(3, 'c1', 0.75),
  evaluated(3, 'c2', 0.5),
  generation(4, 10, 0.7, 0.75, 0.04),
];
const none = { baseline: 0.25, heldout: null };

test('evaluations stand at the rollouts that were completed, estimates at those of their generation', () => {
  const columns = columnsOf(curveOf(search), 'rollouts', none);
  const [x, low, high, estimate, best, evaluations, baseline] = columns;
  expect(x).toEqual([2, 5, 9, 10]);
  expect(estimate).toEqual([0.25, 0.5, null, 0.7]);
  expect([low![1], high![1]]).toEqual([0.4, 0.6]);
  expect(best).toEqual([0.25, 0.25, null, 0.75]);
  expect(evaluations).toEqual([0.25, null, 0.75, null]);
  expect(baseline).toEqual([0.25, 0.25, 0.25, 0.25]);
  expect(columns).toHaveLength(7);
});

test('held-out rewards add two levels', () => {
  const columns = columnsOf(curveOf(search), 'rollouts', {
    baseline: null,
    heldout: { baseline: 0.2, winner: 0.8 },
  });
  expect(columns.slice(6).map((column) => column[0])).toEqual([null, 0.2, 0.8]);
});

test('an evaluation costs what its generation has cost; points of unknown cost are left out', () => {
  const curve = curveOf(search);
  expect(columnsOf(curve, 'dollars', none)[0]).toEqual([0.01, 0.02, 0.04]);
  expect(marksOf(curve, 'dollars').map(({ candidateId, x }) => [candidateId, x])).toEqual([
    ['c0', 0.01],
    ['c1', 0.04],
    ['c2', 0.04],
  ]);
  expect(curve.hasCost).toBe(true);
  const unpriced = curveOf([event('session_started', 0), rollout(1, 2), generation(1, 2, 0.5, 0.5, null)]);
  expect(unpriced.hasCost).toBe(false);
  expect(columnsOf(unpriced, 'dollars', none)[0]).toEqual([]);
});

test('acceptances stand at their estimates, beside evaluations', () => {
  const accepted = event('candidate_accepted', 3, { candidate_id: 'c1', estimated_reward: 0.6 });
  const curve = curveOf([...search.slice(0, 6), accepted, ...search.slice(6)]);
  expect(marksOf(curve, 'rollouts')).toEqual([
    { kind: 'evaluated', candidateId: 'c0', x: 2, reward: 0.25 },
    { kind: 'accepted', candidateId: 'c1', x: 9, reward: 0.6 },
    { kind: 'evaluated', candidateId: 'c1', x: 9, reward: 0.75 },
    { kind: 'evaluated', candidateId: 'c2', x: 9, reward: 0.5 },
  ]);
});

test('the clock stands still in a pause and between the end and an extension', () => {
  const curve = curveOf([
    ...search,
    event('paused', 5),
    event('resumed', 25),
    event('job_complete', 30),
    event('session_extended', 90),
    generation(91, 12, 0.8, 0.75, 0.05),
  ]);
  expect(columnsOf(curve, 'minutes', none)[0]).toEqual([1, 2, 3, 4, 11]);
  expect(curve.minutesAt(Date.parse(minute(92)))).toBe(12);
});

test('until all events of an ended search are read, its time ends at the last one', () => {
  const curve = curveOf(search);
  expect(curve.minutes).toBe(4);
  curve.add(event('job_complete', 6));
  curve.add(event('artifact_ready', 500));
  expect(curve.minutes).toBe(6);
});
