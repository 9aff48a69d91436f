import { describe, expect, test } from '@jest/globals';
import { now } from '../clock.js';
import { dueMs, openLoop } from '../open-loop.js';
import { gate } from '../../test/support/gate.js';

describe('openLoop', () => {
  test('schedules calls at a constant rate', async () => {
    const due: number[] = [];
    let early = 0;
    await openLoop(200, 0.1, async (dueAt, index) => {
      due[index] = dueAt;
      if (now() < dueAt) early += 1;
    });
    expect([due.length, early]).toEqual([20, 0]);
    const steps = due.slice(1).map((at, n) => at - due[n]!);
    for (const step of steps) expect(step).toBeCloseTo(5, 6);
    expect([dueMs(0, 100), dueMs(1, 100), dueMs(100, 100)]).toEqual([0, 10, 1_000]);
  });

  test('sends calls without waiting for answers, then waits for all answers', async () => {
    let called = 0;
    let answered = 0;
    const { opened, open } = gate();
    await openLoop(100, 0.05, async () => {
      called += 1;
      // Answers the first call after the last was sent.
      if (called === 5) open();
      await opened;
      answered += 1;
    });
    expect([called, answered]).toEqual([5, 5]);
  });

  test('rejects with the first failure', async () => {
    await expect(
      openLoop(100, 0.03, async (_, n) => (n === 1 ? Promise.reject(new Error('no')) : undefined)),
    ).rejects.toThrow('no');
  });
});
