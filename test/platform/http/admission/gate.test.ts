import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createGate, type Permit } from '../../../../src/platform/http/admission/gate.js';
import { range } from '../../../support/range.js';
import { runs } from '../../../support/runs.js';

const codeOf = (error: { status: number; code: string }) => `${error.status} ${error.code}`;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Enters `count` times; the outcomes appear in order. */
function enterAll(gate: ReturnType<typeof createGate>, count: number) {
  const entered: (Permit | string)[] = [];
  for (const n of range(0, count))
    void gate.acquire().then(
      (permit) => (entered[n] = permit),
      (error) => (entered[n] = codeOf(error)),
    );
  return entered;
}

/** A gate that works off 50 a second, by `clock`; its waits are short up to 100 ms, a burst 200. */
async function workingOff(lastingWaitMs: number) {
  const clock = { time: 0 };
  const gate = createGate({
    permits: 1,
    burst: 100,
    shortWaitMs: 100,
    burstMs: 200,
    lastingWaitMs,
    calmMs: 5_000,
    now: () => clock.time,
  });
  for (let n = 0; n < 60; n += 1) {
    (await gate.acquire()).release();
    clock.time += 20;
  }
  return { gate, clock };
}

describe('a burst', () => {
  test('waits in order, and what the queue cannot take is 503', async () => {
    const gate = createGate({ permits: 2, burst: 3, shortWaitMs: 100, burstMs: 0, lastingWaitMs: 1, calmMs: 0 });
    const entered = enterAll(gate, 6);
    await settled();
    expect([entered.length, entered[5], gate.refuses()]).toEqual([6, '503 over_capacity', true]);
    expect(range(0, 5).filter((n) => entered[n])).toEqual([0, 1]);
    (entered[1] as Permit).release();
    (entered[1] as Permit).release();
    await settled();
    expect(range(0, 5).filter((n) => entered[n])).toEqual([0, 1, 2]);
    expect(gate.refuses()).toBe(false);
  });

  test('that lasts gets the queue that is worked off in time, until none was refused for a while', async () => {
    const { gate, clock } = await workingOff(100);
    const waiting = enterAll(gate, 100);
    await settled();
    const workOff = async (entered: (Permit | string)[], from: number, count: number) => {
      for (const n of range(from, count)) {
        (entered[n] as Permit).release();
        await settled();
        clock.time += 20;
      }
    };
    await workOff(waiting, 0, 20);
    // 93 waited when the last wait was short.
    const last = enterAll(gate, 7);
    expect(gate.refuses()).toBe(false);
    const beyond = enterAll(gate, 1);
    expect(gate.refuses()).toBe(true);
    await settled();
    await workOff(waiting, 20, 80);
    await workOff(last, 0, 7);
    await workOff(beyond, 0, 1);
    // One works, and six wait.
    const held = await gate.acquire();
    const outcomes = enterAll(gate, 20);
    await settled();
    expect(outcomes.filter((outcome) => outcome === '503 over_capacity')).toHaveLength(14);
    held.release();
    for (const n of range(0, 6)) {
      await settled();
      (outcomes[n] as Permit).release();
    }
    clock.time += 5_000;
    const later = enterAll(gate, 20);
    await settled();
    expect(later.filter((outcome) => typeof outcome === 'string')).toEqual([]);
  });

  test('of no more than the queue holds does not last, however slowly it is worked off', async () => {
    const { gate, clock } = await workingOff(1);
    enterAll(gate, 50);
    clock.time += 60_000;
    expect(gate.refuses()).toBe(false);
    const late = enterAll(gate, 51);
    await settled();
    expect(late).toEqual([]);
    expect(gate.refuses()).toBe(true);
  });

  test('does not last where a wait was short in between', async () => {
    const { gate, clock } = await workingOff(1);
    for (let n = 0; n < 5; n += 1) {
      const entered = enterAll(gate, 3);
      clock.time += 250;
      expect(gate.refuses()).toBe(false);
      for (const n of range(0, 3)) {
        await settled();
        (entered[n] as Permit).release();
      }
    }
  });
});

test('work that waits frees its permit, and gets it back where none is free', async () => {
  const gate = createGate({ permits: 1, burst: 4, shortWaitMs: 1_000, burstMs: 0, lastingWaitMs: 1_000 });
  const [first] = [await gate.acquire()];
  const entered = enterAll(gate, 2);
  first.pause();
  await settled();
  expect(entered[0]).toBeDefined();
  first.resume();
  (entered[0] as Permit).release();
  await settled();
  expect(entered[1]).toBeUndefined();
  first.release();
  await settled();
  expect(entered[1]).toBeDefined();
});

test('no permit is lost, and none waits beside a free one, whatever the order of steps', async () => {
  const step = fc.constantFrom('enter', 'pause', 'resume', 'release');
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.tuple(step, fc.nat(9)), { maxLength: 60 }),
      async (permits, steps) => {
        const gate = createGate({ permits, burst: 100, shortWaitMs: 60_000, burstMs: 0, lastingWaitMs: 1 });
        const inside: { permit: Permit; state: string }[] = [];
        let waiting = 0;
        for (const [action, pick] of steps) {
          const one = inside[pick % Math.max(1, inside.length)];
          if (action === 'enter') {
            waiting += 1;
            void gate.acquire().then((permit) => {
              waiting -= 1;
              inside.push({ permit, state: 'working' });
            });
          } else if (one) {
            one.permit[action]();
            if (action === 'release') one.state = 'released';
            else if (one.state !== 'released') one.state = action === 'pause' ? 'paused' : 'working';
          }
          await settled();
          const working = inside.filter(({ state }) => state === 'working').length;
          if (waiting > 0) expect(working).toBeGreaterThanOrEqual(permits);
        }
        for (;;) {
          const left = inside.filter(({ state }) => state !== 'released');
          if (left.length === 0) break;
          for (const one of left) {
            one.permit.release();
            one.state = 'released';
          }
          await settled();
        }
        expect(waiting).toBe(0);
        const again = enterAll(gate, permits);
        await settled();
        expect(again.every((outcome) => typeof outcome === 'object')).toBe(true);
      },
    ),
    { numRuns: runs(100, 1_000) },
  );
});
