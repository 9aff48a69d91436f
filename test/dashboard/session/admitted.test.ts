/** The actions of a session's page are those that the service accepts in its status. */
import { describe, expect, test } from '@jest/globals';
import { actionsAfter, actionsOf, primaryOf } from '../../../dashboard/src/pages/session/admitted.js';
import type { Results, Session } from '../../../dashboard/src/data/session/types.js';
import { isTerminal, statuses, transition } from '../../../src/core/jobs/status.js';

const session = { container_url: 'http://127.0.0.1:1', best_candidate: {} as NonNullable<Session['best_candidate']> };

test.each(statuses)('%s', (status) => {
  const actions = actionsOf({ ...session, status });
  const changes = (command: 'pause' | 'resume' | 'cancel') => {
    const after = transition(status, command);
    return after.ok && !after.already;
  };
  expect(actions.has('pause')).toBe(changes('pause'));
  expect(actions.has('resume')).toBe(changes('resume'));
  expect(actions.has('cancel')).toBe(changes('cancel'));
  expect(actions.has('extend')).toBe(isTerminal(status));
  expect(actions.has('hint')).toBe(status === 'running' || status === 'paused');
  expect(actions.has('deploy')).toBe(true);
  const unmeasured = actionsOf({ ...session, best_candidate: null, status });
  expect([unmeasured.has('deploy'), unmeasured.has('extend')]).toEqual([false, status === 'cancelled']);
});

test.each<[string, Partial<Parameters<typeof actionsAfter>[1]>, boolean, boolean]>([
  ['an end that larger limits change', {}, true, true],
  ['nothing left to try', { nothing_left: 'train_solved' }, true, false],
  ['a reward of 0', { best_reward: 0 }, false, true],
  ['wrong answers alone', { diagnosis: { code: 'all_wrong' } as Results['diagnosis'] }, false, true],
])('after %s', (_, known, deploys, extends_) => {
  const found = { diagnosis: null, nothing_left: null, best_reward: 0.5, ...known };
  const actions = actionsAfter({ ...session, status: 'completed' }, found);
  expect([actions.has('deploy'), actions.has('extend')]).toEqual([deploys, extends_]);
});

test('live traffic takes hints, but neither prompts nor extensions', () => {
  const live = { container_url: null, best_candidate: null };
  expect([...actionsOf({ ...live, status: 'running' })]).not.toContain('suggest');
  expect([...actionsOf({ ...live, status: 'running' })]).toContain('hint');
  expect([...actionsOf({ ...live, status: 'completed' })]).not.toContain('extend');
});

describe('the one action that a state asks for', () => {
  type Found = NonNullable<Parameters<typeof primaryOf>[1]>;
  const advice = (kind: string) => ({ action: { kind } }) as Found['diagnosis'];
  const found = { verdict: null, best_candidate: null, diagnosis: null };
  const isBaseline = { best_candidate: { is_baseline: true } as Found['best_candidate'] };
  const ended = { ...session, dataset: {} as NonNullable<Session['dataset']>, status: 'completed' as const };

  test.each<[string, Partial<Found>, ReturnType<typeof primaryOf>]>([
    ['a better winner', { verdict: 'better', diagnosis: advice('deploy') }, 'deploy'],
    ['a better winner that may become better still', { verdict: 'better', diagnosis: advice('extend') }, 'extend'],
    ['a better winner without an advice', { verdict: 'better' }, 'deploy'],
    ['wrong answers to read', { verdict: 'inconclusive', ...isBaseline, diagnosis: advice('read_rows') }, null],
    ['an end while it improved', { verdict: 'inconclusive', diagnosis: advice('extend') }, 'extend'],
    ['a fault that the diagnosis repairs', { diagnosis: advice('new_run') }, null],
    ['nothing better than the baseline', { verdict: 'inconclusive', ...isBaseline }, 'again'],
    ['nothing to say', {}, 'again'],
  ])('%s', (_, known, expected) => {
    expect(primaryOf(ended, { ...found, ...known })).toBe(expected);
  });

  test('of an open session it is pause or resume, and nothing before it runs', () => {
    expect(
      (['running', 'paused', 'pending'] as const).map((status) => primaryOf({ ...ended, status }, undefined)),
    ).toEqual(['pause', 'resume', null]);
  });
});
