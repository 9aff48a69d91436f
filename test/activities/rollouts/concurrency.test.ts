import { describe, expect, jest, test } from '@jest/globals';
import { Concurrency } from '../../../activities/rollouts/concurrency.js';

const never = new AbortController().signal;

describe('concurrency limit of rollouts', () => {
  test('halves, at most once a second, down to one; grows by one for each limit successes, up to max', () => {
    let now = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
    try {
      const concurrency = new Concurrency(16);
      expect(concurrency.takeChange()).toBeNull();
      for (const expected of [8, 4, 2, 1, 1]) {
        concurrency.lower('busy');
        concurrency.lower('busy');
        expect(concurrency.limit).toBe(expected);
        now += 1_000;
      }
      expect(concurrency.takeChange()).toEqual({ limit: 1, reason: 'busy', lowered: true, max: 16 });
      expect(concurrency.takeChange()).toBeNull();
      for (let i = 0; i < 1 + 2 + 3; i += 1) concurrency.raise();
      expect(concurrency.limit).toBeGreaterThanOrEqual(3);
      expect(concurrency.limit).toBeLessThanOrEqual(4);
      for (let i = 0; i < 1_000; i += 1) concurrency.raise();
      expect(concurrency.limit).toBe(16);
      expect(concurrency.takeChange()).toEqual({ limit: 16, reason: null, lowered: false, max: 16 });
    } finally {
      clock.mockRestore();
    }
  });

  test('continues at the limit of an earlier runner, never above max', () => {
    const concurrency = new Concurrency(16, { limit: 4, reason: 'busy' });
    expect([concurrency.limit, concurrency.takeChange()]).toEqual([4, null]);
    expect(new Concurrency(2, { limit: 4, reason: null }).limit).toBe(2);
  });

  test('shares slots between tries; an aborted waiter stops waiting', async () => {
    const concurrency = new Concurrency(2);
    const first = await concurrency.admit(never);
    await concurrency.admit(never);
    const stop = new AbortController();
    const given = concurrency.admit(stop.signal);
    let third = false;
    const waiting = concurrency.admit(never).then(() => (third = true));
    stop.abort(new Error('stopped'));
    await expect(given).rejects.toThrow('stopped');
    expect(third).toBe(false);
    first();
    await waiting;
    expect(third).toBe(true);
  });
});
