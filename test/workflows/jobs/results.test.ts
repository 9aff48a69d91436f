import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noFigures } from '../../../src/core/jobs/progress.js';
import { BackOff } from '../../../workflows/jobs/back-off.js';
import { readDriven, readFinished, readProgress, readRecorded } from '../../../workflows/jobs/results.js';

// Invariants: a result of an activity is read as it is; anything else is no result, and throws
// nothing.

const progress = { figures: { ...noFigures, bestReward: 0.5 }, details: 'd', next: 'n', takes: ['hint' as const] };
const state = { status: 'paused' as const, pauses: 3 };
const row = { shown: { name: null, tags: ['v1'], rollouts: 3, bestReward: 0.5 }, rewards: null };
const fault = { code: 'c', message: 'm', retryable: true };

test.each([
  { rest: { kind: 'again' }, progress, state, row },
  { rest: { kind: 'unprepared' }, progress: null, state: null, row },
  { rest: { kind: 'rewards' }, progress, state, row: { ...row, rewards: { rollouts: 2, since: '2026-01-01' } } },
  { rest: { kind: 'failed', fault }, progress, state, row: null },
  { rest: { kind: 'ended', end: { kind: 'completed', stoppedBy: 'generations' } }, progress, state, row },
  { rest: { kind: 'ended', end: { kind: 'failed', fault } }, progress, state, row },
])('reads a slice that rests as $rest', (driven) => {
  expect(readDriven(driven)).toEqual(driven);
});

test.each([
  undefined,
  null,
  [],
  'ended',
  { finished: true },
  { rest: 'ended' },
  { rest: { kind: 'ended' } },
  { rest: { kind: 'ended', end: { kind: 'cancelled' } } },
  { rest: { kind: 'ended', end: { kind: 'completed', stoppedBy: 'reward_stop' } } },
  { rest: { kind: 'failed', fault: { code: 1, message: null } } },
  { rest: { kind: '__proto__' } },
  JSON.parse('{"__proto__": {"rest": {"kind": "again"}}}'),
])('takes %j for no result', (value) => {
  expect(readDriven(value)).toBeNull();
});

test.each([
  { ...progress, figures: { ...progress.figures, bestReward: '0.5' } },
  { ...progress, figures: null },
  { ...progress, takes: 'hint' },
  { ...progress, details: 7 },
])('shows no progress that is none', (wrong) => {
  expect(readDriven({ rest: { kind: 'again' }, progress: wrong, state })).toEqual({
    rest: { kind: 'again' },
    progress: null,
    state,
    row: null,
  });
  expect(readProgress(wrong)).toBeNull();
});

test.each([
  { kind: 'unfinished' },
  {
    kind: 'ended',
    outcome: { status: 'failed', stoppedBy: 'failed', error: fault },
    summary: { name: 'a', verdict: 'better', bestReward: null, rollouts: 2, costUsd: 0.1 },
    labels: { tags: ['v1'], metadata: { team: 'search', n: 1 } },
  },
])('reads an end that is $kind', (finished) => {
  expect(readFinished(finished)).toEqual(finished);
});

test.each([null, 'ended', { kind: 'ended' }, { kind: 'ended', outcome: { status: 'completed', stoppedBy: 'x' } }])(
  'takes %j for no end',
  (value) => {
    expect(readFinished(value)).toBeNull();
  },
);

test.each([{ kind: 'recorded' }, { kind: 'moved', state: { status: 'completed', pauses: 1 } }])(
  'reads a decision that is $kind',
  (recorded) => {
    expect(readRecorded(recorded)).toEqual(recorded);
  },
);

test('reads any value', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), fc.anything(), (rest, progress, state) => {
      readDriven({ rest, progress, state, row: rest });
      readFinished({ kind: 'ended', outcome: rest, summary: progress, labels: state });
      readRecorded({ kind: 'moved', state });
      readProgress(progress);
      readDriven(rest);
    }),
  );
});

test('waits longer after each slice that changes nothing, and not after one that does', () => {
  const backOff = new BackOff();
  backOff.note(progress);
  expect([1, 2, 3].map(() => backOff.after(progress, false))).toEqual([500, 1_000, 2_000]);
  expect(backOff.after({ ...progress, next: 'other' }, false)).toBe(0);
  const more = Array.from({ length: 20 }, () => backOff.after({ ...progress, next: 'other' }, false));
  expect(more[0]).toBe(500);
  expect(more.at(-1)).toBe(30_000);
  expect(backOff.after({ ...progress, next: 'other' }, true)).toBe(0);
});
