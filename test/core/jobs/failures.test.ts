import { describe, expect, test } from '@jest/globals';
import { countOutcome, mustFail, noOutcomes, type Outcome } from '../../../src/core/jobs/failures.js';

function after(...outcomes: Outcome[]) {
  return outcomes.reduce(countOutcome, noOutcomes);
}

function repeat(count: number, outcome: Outcome): Outcome[] {
  return Array.from({ length: count }, () => outcome);
}

describe('counting', () => {
  test('anything but a failed connection ends the row', () => {
    expect(after('connect_failed', 'connect_failed')).toEqual({ succeeded: 0, failed: 2, connectFailuresInARow: 2 });
    expect(after('connect_failed', 'failed')).toEqual({ succeeded: 0, failed: 2, connectFailuresInARow: 0 });
    expect(after('connect_failed', 'succeeded', 'connect_failed').connectFailuresInARow).toBe(1);
  });
});

describe('the container is gone', () => {
  test('with the 10th rollout in a row that could not connect, whatever the rate allows', () => {
    expect(mustFail(after(...repeat(9, 'connect_failed')), 1, false)).toBeNull();
    expect(mustFail(after(...repeat(50, 'succeeded'), ...repeat(10, 'connect_failed')), 1, false)).toMatchObject({
      code: 'container_unreachable',
      message: expect.stringContaining('10 rollouts in a row'),
    });
  });
});

describe('too many failures', () => {
  test('are judged from the 20th outcome on', () => {
    expect(mustFail(after(...repeat(19, 'failed')), 0.5, false)).toBeNull();
    expect(mustFail(after(...repeat(20, 'failed')), 0.5, false)).toMatchObject({ code: 'too_many_failures' });
  });

  test('and at the end, however few there are', () => {
    expect(mustFail(after('failed', 'failed', 'succeeded'), 0.5, false)).toBeNull();
    expect(mustFail(after('failed', 'failed', 'succeeded'), 0.5, true)).toMatchObject({
      code: 'too_many_failures',
      message: expect.stringContaining('2 of 3 rollouts failed'),
    });
  });

  test('are more than the rate, not as many', () => {
    expect(mustFail(after(...repeat(10, 'failed'), ...repeat(10, 'succeeded')), 0.5, true)).toBeNull();
    expect(mustFail(after(...repeat(11, 'failed'), ...repeat(10, 'succeeded')), 0.5, true)).not.toBeNull();
  });

  test('at rate 0 one is too many, at rate 1 none is', () => {
    expect(mustFail(after('failed'), 0, true)).not.toBeNull();
    expect(mustFail(after(...repeat(30, 'failed')), 1, true)).toBeNull();
  });

  test('nothing at all is no failure', () => {
    expect(mustFail(noOutcomes, 0, true)).toBeNull();
  });
});
