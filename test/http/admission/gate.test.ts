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
    const gate = createGate({ places: 2, burst: 3, standing: 0, calmMs: 0 });
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

  test('that lasts gets a short queue, until none was refused for a while', async () => {
    let time = 0;
    const clock = { standingMs: 100, calmMs: 5_000, now: () => time };
    const gate = createGate({ places: 1, burst: 8, standing: 1, ...clock });
    const entered = enterAll(gate, 4);
    time = 100;
    expect(gate.isFull()).toBe(false);
    time = 101;
    expect(gate.isFull()).toBe(true);
    await settled();
    for (const n of range(0, 3)) {
      (entered[n] as Place).leave();
      await settled();
    }
    const refusals = async (count: number) => {
      const outcomes = enterAll(gate, count);
      await settled();
      return outcomes.filter((outcome) => typeof outcome === 'string').length;
    };
    expect(await refusals(5)).toBe(4);
    time += 4_999;
    expect(gate.isFull()).toBe(true);
    time += 5_000;
    (entered[3] as Place).leave();
    await settled();
    expect(await refusals(5)).toBe(0);
  });
});

test('work that waits for long frees its place, and gets it back where none is free', async () => {
  const gate = createGate({ places: 1, burst: 4, standing: 4, longMs: 1 });
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
        const gate = createGate({ places, burst: 100, standing: 100, longMs: 0 });
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
