import { expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { spawnSync } from 'node:child_process';
import { pino } from 'pino';
import { withErrorClasses } from '../../activities/errors.js';
import { withHeartbeat } from '../../activities/heartbeat.js';
import { countLosses, maxLosses, type LossCount } from '../../activities/losses.js';
import { failActivity } from '../../activities/unhandled.js';
import { Watch } from '../../activities/watch/watch.js';

/** The last heartbeat of an attempt; `heartbeatDetails`: that of the attempt before. */
async function attempt(heartbeatDetails: unknown, work: (draining: AbortController) => Promise<void>) {
  const environment = new MockActivityEnvironment({ heartbeatDetails });
  let last: unknown;
  environment.on('heartbeat', (details: unknown) => (last = details));
  await environment.run(() => work(new AbortController()));
  return last;
}
const record = 7;
const counted = (before: unknown, use: (losses: LossCount, draining: AbortController) => void) =>
  attempt(before, (draining) => {
    const losses = countLosses(record, draining.signal);
    use(losses, draining);
    // Without its end the worker is gone.
    return Promise.resolve();
  });

test('attempts that end with their worker add up, and the third fails the job', async () => {
  let details: unknown;
  for (let n = 1; n <= maxLosses; n += 1) {
    details = await counted(details, () => undefined);
    expect(details).toEqual({ lost: n, record });
  }
  const failed = counted(details, () => undefined);
  await expect(failed).rejects.toMatchObject({ type: 'worker_lost', nonRetryable: true });
});

test.each<[string, (losses: LossCount, draining: AbortController) => void]>([
  ['ends by itself', (losses) => losses.end()],
  ['is on a worker that shuts down', (_losses, draining) => draining.abort()],
])('an attempt that %s is no loss', async (_what, use) => {
  expect(await counted({ lost: 2, record }, use)).toEqual({ lost: 2, record });
});

test('losses before something went on record count no more', async () => {
  expect(await counted({ lost: maxLosses, record: record - 1 }, () => undefined)).toEqual({ lost: 1, record });
});

test('work that fails is no loss', async () => {
  const reporters = { log: pino({ level: 'silent' }), metrics: { stoodStill: () => undefined } };
  const watch = new Watch(reporters, { orgId: 'default', jobId: 'evl_1' }, 'prepare');
  const failing = () => withHeartbeat(() => Promise.reject(new Error('mine')), watch);
  const before = { lost: 1, record: 0 };
  expect(await attempt(before, () => failing().catch(() => undefined))).toEqual({ ...before, ...watch.details });
});

test('a rejection that nobody handles fails its own activity', async () => {
  // Jest keeps the event itself from its listeners.
  const leave = () => void failActivity(new Error('nobody handles it'));
  const activities = withErrorClasses(
    {
      poisoned: () => new Promise<void>(() => setImmediate(leave)),
      healthy: () => new Promise<string>((resolve) => setTimeout(() => resolve('well'), 50)),
    },
    pino({ level: 'silent' }),
  );
  const [poisoned, healthy] = await Promise.allSettled([activities.poisoned(), activities.healthy()]);
  expect(poisoned).toMatchObject({ status: 'rejected', reason: { type: 'internal', nonRetryable: true } });
  expect((poisoned as PromiseRejectedResult).reason).toBeInstanceOf(ApplicationFailure);
  expect(healthy).toEqual({ status: 'fulfilled', value: 'well' });
});

test('a rejection outside of activities is none of theirs', () => {
  expect(failActivity(new Error('elsewhere'))).toBe(false);
});

test('Node emits an unhandled rejection in the context of its promise', () => {
  const code = `
    const { AsyncLocalStorage } = require('node:async_hooks');
    const store = new AsyncLocalStorage();
    process.on('unhandledRejection', () => console.log(store.getStore()));
    store.run('first', () => setImmediate(() => Promise.reject(new Error())));
    store.run('second', () => (async () => { await null; throw new Error(); })());
    Promise.reject(new Error());`;
  const { stdout } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
  expect(stdout.trim().split('\n').sort()).toEqual(['first', 'second', 'undefined']);
});
