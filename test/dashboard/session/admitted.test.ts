/** The actions of a session's page are those that the service accepts in its status. */
import { expect, test } from '@jest/globals';
import { actionsOf } from '../../../dashboard/src/pages/session/admitted.js';
import { isTerminal, statuses, transition } from '../../../src/core/jobs/status.js';

const session = { container_url: 'http://127.0.0.1:1', best_candidate: null };

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
  expect(actions.has('deploy')).toBe(false);
});

test('live traffic takes hints, but neither prompts nor extensions', () => {
  const live = { container_url: null, best_candidate: null };
  expect([...actionsOf({ ...live, status: 'running' })]).not.toContain('suggest');
  expect([...actionsOf({ ...live, status: 'running' })]).toContain('hint');
  expect([...actionsOf({ ...live, status: 'completed' })]).not.toContain('extend');
});
