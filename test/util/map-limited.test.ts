import { expect, test } from '@jest/globals';
import { mapLimited } from '../../src/util/map-limited.js';
import { gate } from '../support/gate.js';

test('results are in the order of the items, and never more than the limit at once', async () => {
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

test('where one fails, those under way come to their end first, and no other begins', async () => {
  const { opened, open } = gate();
  const ended: number[] = [];
  const begun: number[] = [];
  const all = mapLimited([0, 1, 2, 3], 2, async (n) => {
    begun.push(n);
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
  expect([begun, ended]).toEqual([[0, 1], [1]]);
});
