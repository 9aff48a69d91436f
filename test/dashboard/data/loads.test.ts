import { expect, test } from '@jest/globals';
import { isFinal, Loads } from '../../../dashboard/src/data/loads.js';
import { RatchetError } from '../../../src/client/index.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Loads that end when the test says so. */
function heldLoads() {
  const ends: (() => void)[] = [];
  const loads = new Loads(() => new Promise((resolve) => ends.push(resolve)));
  return { loads, ends };
}

test('a poll waits for the running load', async () => {
  const { loads, ends } = heldLoads();
  loads.poll();
  loads.poll();
  expect(ends).toHaveLength(1);
  ends[0]!();
  await settle();
  loads.poll();
  expect(ends).toHaveLength(2);
});

test('those who ask again share one load that begins after the running one', async () => {
  const { loads, ends } = heldLoads();
  const done: string[] = [];
  void loads.again().then(() => done.push('first'));
  void loads.again().then(() => done.push('second'));
  void loads.again().then(() => done.push('third'));
  loads.poll();
  expect(ends).toHaveLength(1);
  ends[0]!();
  await settle();
  loads.poll();
  expect([ends.length, done]).toEqual([2, ['first']]);
  ends[1]!();
  await settle();
  expect([ends.length, done]).toEqual([2, ['first', 'second', 'third']]);
});

test('only what no other try changes is final', () => {
  const failed = (status: number) => isFinal(new RatchetError('', { status, code: 'x' }));
  expect([403, 404, 401, 409, 429, 500].map(failed)).toEqual([true, true, ...Array(4).fill(false)]);
  expect(isFinal(new Error())).toBe(false);
});
