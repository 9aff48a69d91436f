import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout } from 'node:timers/promises';
import { createGate, type Place } from '../../../src/http/admission/gate.js';
import { range } from '../../support/range.js';
import { runs } from '../../support/runs.js';
import { until } from '../../support/until.js';

const codeOf = (error: { status: number; code: string }) => `${error.status} ${error.code}`;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Enters `count` times; the outcomes appear in order. */
function enterAll(gate: ReturnType<typeof createGate>, count: number) {
  const entered: (Place | string)[] = [];
  for (const n of range(0, count))
    void gate.enter().then(
      (place) => (entered[n] = place),
      (error) => (entered[n] = codeOf(error)),
    );
  return entered;
}

describe('a burst', () => {
  test('waits in order, and what the queue cannot take is 503', async () => {
    const gate = createGate({ places: 2, burst: 3, burstWaitMs: 100, lastingWaitMs: 1, calmMs: 0 });
    const entered = enterAll(gate, 6);
    await settled();
    expect([entered.length, entered[5], gate.isFull()]).toEqual([6, '503 over_capacity', true]);
    expect(range(0, 5).filter((n) => entered[n])).toEqual([0, 1]);
    (entered[1] as Place).leave();
    (entered[1] as Place).leave();
    await settled();
    expect(range(0, 5).filter((n) => entered[n])).toEqual([0, 1, 2]);
    expect(gate.isFull()).toBe(false);
  });

  test('that lasts gets the queue that is worked off in time, until none was refused for a while', async () => {
    let time = 0;
    const gate = createGate({
      places: 1,
      burst: 100,
      burstWaitMs: 100,
      lastingWaitMs: 100,
      calmMs: 5_000,
      now: () => time,
    });
    // 50 a second.
    for (let n = 0; n < 60; n += 1) {
      (await gate.enter()).leave();
      time += 20;
    }
    const waiting = enterAll(gate, 50);
    time += 100;
    expect(gate.isFull()).toBe(false);
    time += 1;
    expect(gate.isFull()).toBe(true);
    await settled();
    for (const n of range(0, 50)) {
      (waiting[n] as Place).leave();
      await settled();
      time += 20;
    }
    // One works, and six wait.
    const held = await gate.enter();
    const outcomes = enterAll(gate, 20);
    await settled();
    expect(outcomes.filter((outcome) => outcome === '503 over_capacity')).toHaveLength(14);
    held.leave();
    for (const n of range(0, 6)) {
      await settled();
      (outcomes[n] as Place).leave();
    }
    time += 5_000;
    const later = enterAll(gate, 20);
    await settled();
    expect(later.filter((outcome) => typeof outcome === 'string')).toEqual([]);
  });
});

test('work that waits for long frees its place, and gets it back where none is free', async () => {
  const gate = createGate({ places: 1, burst: 4, burstWaitMs: 1_000, lastingWaitMs: 1_000, longMs: 1 });
  const [first] = [await gate.enter()];
  const entered = enterAll(gate, 2);
  first.pause();
  await until('the next one has the place', () => Promise.resolve(entered[0] !== undefined));
  first.resume();
  (entered[0] as Place).leave();
  await settled();
  expect(entered[1]).toBeUndefined();
  first.leave();
  await settled();
  expect(entered[1]).toBeDefined();
});

test('no place is lost, and none waits beside a free one, whatever the order of steps', async () => {
  const step = fc.constantFrom('enter', 'pause', 'resume', 'leave');
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.tuple(step, fc.nat(9)), { maxLength: 60 }),
      async (places, steps) => {
        const gate = createGate({ places, burst: 100, burstWaitMs: 60_000, lastingWaitMs: 1, longMs: 0 });
        const inside: { place: Place; state: string }[] = [];
        let waiting = 0;
        for (const [action, pick] of steps) {
          const one = inside[pick % Math.max(1, inside.length)];
          if (action === 'enter') {
            waiting += 1;
            void gate.enter().then((place) => {
              waiting -= 1;
              inside.push({ place, state: 'working' });
            });
          } else if (one) {
            one.place[action]();
            if (action === 'leave') one.state = 'left';
            else if (one.state !== 'left') one.state = action === 'pause' ? 'paused' : 'working';
          }
          if (action === 'pause') await setTimeout(2);
          await settled();
          const working = inside.filter(({ state }) => state === 'working').length;
          if (waiting > 0) expect(working).toBeGreaterThanOrEqual(places);
        }
        for (;;) {
          const left = inside.filter(({ state }) => state !== 'left');
          if (left.length === 0) break;
          for (const one of left) {
            one.place.leave();
            one.state = 'left';
          }
          await settled();
        }
        expect(waiting).toBe(0);
        const again = enterAll(gate, places);
        await settled();
        expect(again.every((outcome) => typeof outcome === 'object')).toBe(true);
      },
    ),
    { numRuns: runs(100, 1_000) },
  );
});
