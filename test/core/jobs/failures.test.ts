import { describe, expect, test } from '@jest/globals';
import { countOutcome, mustFail, noOutcomes, withCause, type Outcome } from '../../../src/core/jobs/failures.js';

function after(...outcomes: Outcome[]) {
  return outcomes.reduce(countOutcome, noOutcomes);
}

function repeat(count: number, outcome: Outcome): Outcome[] {
  return Array.from({ length: count }, () => outcome);
}

describe('countOutcome', () => {
  test('resets the connection failures on any other outcome', () => {
    expect(after('connect_failed', 'connect_failed')).toEqual({ succeeded: 0, failed: 2, connectFailuresInARow: 2 });
    expect(after('connect_failed', 'failed')).toEqual({ succeeded: 0, failed: 2, connectFailuresInARow: 0 });
    expect(after('connect_failed', 'succeeded', 'connect_failed').connectFailuresInARow).toBe(1);
  });
});

describe('container_unreachable', () => {
  test('after 10 consecutive connection failures, at any max_failure_rate', () => {
    expect(mustFail(after(...repeat(9, 'connect_failed')), 1, false)).toBeNull();
    expect(mustFail(after(...repeat(50, 'succeeded'), ...repeat(10, 'connect_failed')), 1, false)).toMatchObject({
      code: 'container_unreachable',
      message: expect.stringContaining('10 rollouts in a row'),
    });
  });
});

describe('too_many_failures', () => {
  test('from the 20th outcome', () => {
    expect(mustFail(after(...repeat(19, 'failed')), 0.5, false)).toBeNull();
    expect(mustFail(after(...repeat(20, 'failed')), 0.5, false)).toMatchObject({ code: 'too_many_failures' });
  });

  test('at the end after any number of outcomes', () => {
    expect(mustFail(after('failed', 'failed', 'succeeded'), 0.5, false)).toBeNull();
    expect(mustFail(after('failed', 'failed', 'succeeded'), 0.5, true)).toMatchObject({
      code: 'too_many_failures',
      message: expect.stringContaining('2 of 3 answers failed'),
    });
  });

  test('only above the rate', () => {
    expect(mustFail(after(...repeat(10, 'failed'), ...repeat(10, 'succeeded')), 0.5, true)).toBeNull();
    expect(mustFail(after(...repeat(11, 'failed'), ...repeat(10, 'succeeded')), 0.5, true)).not.toBeNull();
  });

  test('after one failure at rate 0, never at rate 1', () => {
    expect(mustFail(after('failed'), 0, true)).not.toBeNull();
    expect(mustFail(after(...repeat(30, 'failed')), 1, true)).toBeNull();
  });

  test('by the last try of each candidate on each seed', () => {
    const counts = after(...repeat(8, 'succeeded'), ...repeat(12, 'failed'));
    expect(mustFail({ ...counts, distinct: { succeeded: 8, failed: 4 } }, 0.5, true)).toBeNull();
    expect(mustFail({ ...counts, distinct: { succeeded: 8, failed: 9 } }, 0.5, false)).toBeNull();
    expect(mustFail({ ...counts, distinct: { succeeded: 8, failed: 9 } }, 0.5, true)).toMatchObject({
      message: expect.stringContaining('9 of 17 answers failed'),
    });
  });

  test('not without outcomes', () => {
    expect(mustFail(noOutcomes, 0, true)).toBeNull();
  });
});

describe('withCause', () => {
  const cause = { message: 'no reward', count: 18, failed: 20 };
  test('quotes the commonest cause where rollouts failed the job', () => {
    const { message } = withCause({ code: 'too_many_failures', message: 'Too many.' }, cause);
    expect(message).toBe('Too many. 18 of 20 failed answers: no reward');
  });

  test('leaves other failures, and jobs without a failed rollout', () => {
    const refused = { code: 'proposer_failed', message: 'x' };
    expect(withCause(refused, cause)).toBe(refused);
    const lost = { code: 'too_many_failures', message: 'x' };
    expect(withCause(lost, null)).toBe(lost);
  });
});
