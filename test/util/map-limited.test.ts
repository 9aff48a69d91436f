import { expect, test } from '@jest/globals';
import { mapLimited } from '../../src/util/map-limited.js';
import { gate } from '../support/gate.js';

test('returns results in the order of the items, and respects the limit', async () => {
  let now = 0;
  let most = 0;
  const results = await mapLimited([3, 1, 2, 5, 4], 2, async (n) => {
    most = Math.max(most, (now += 1));
    for (let i = 0; i < n; i += 1) await Promise.resolve();
    now -= 1;
    return n * 10;
  });
  expect(results).toEqual([30, 10, 20, 50, 40]);
  expect(most).toBe(2);
});

test('after a failure waits for running items and starts no more', async () => {
  const { opened, open } = gate();
  const ended: number[] = [];
  const started: number[] = [];
  const all = mapLimited([0, 1, 2, 3], 2, async (n) => {
    started.push(n);
    if (n === 0) throw new Error('no database');
    await opened;
    ended.push(n);
  });
  let settled = false;
  const outcome = all.catch((error: Error) => error.message).finally(() => (settled = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(settled).toBe(false);
  open();
  expect(await outcome).toBe('no database');
  expect([started, ended]).toEqual([[0, 1], [1]]);
});
