import { expect, test } from '@jest/globals';
import type { ActivityDeps } from '../../../activities/deps.js';
import type { ContainerClient } from '../../../src/clients/container/client.js';
import { mergeMetrics } from '../../../src/service/metrics/merge.js';
import { attemptWorldOfFile, isDone, startSearch } from './attempts.js';

// Invariant: an attempt whose work stands still ends by itself, and the next one goes on from its
// record; nothing but what hung runs again.

const on = attemptWorldOfFile();

/** A hundred times as fast. */
const limits = { everyMs: 20, tickMs: 2_000 };
const never = () => new Promise<never>(() => undefined);

/** A search in whose attempts something may hang. */
async function startHanging() {
  const search = await startSearch(on, { generations: 3, rollout_timeout: 1 }, limits);
  const stoodStill = async (work: string) =>
    (await mergeMetrics([search.metrics.values])).includes(`ratchet_work_stood_still_total{work="${work}"} 1`);
  const sent = () => search.calls().map(({ rolloutId }) => rolloutId);
  return { ...search, stoodStill, sent };
}

/** True once, for the call with this number. */
const once = (number: number) => {
  let calls = 0;
  return () => (calls += 1) === number;
};

const failure = { type: 'work_stood_still', nonRetryable: false };

test('a rollout whose promise never settles ends the attempt; the others are kept', async () => {
  const { attempt, stoodStill, sent } = await startHanging();
  const mustHang = once(3);
  const hanging: ContainerClient = {
    ...on.container,
    rollout: (...asked) => (mustHang() ? never() : on.container.rollout(...asked)),
  };
  await expect(attempt({ container: hanging })).rejects.toMatchObject(failure);
  expect(await stoodStill('rollout')).toBe(true);
  expect(isDone(await attempt())).toBe(true);
  expect(new Set(sent()).size).toBe(sent().length);
}, 30_000);

test('a proposer whose call never settles ends the attempt', async () => {
  const { deps, attempt, stoodStill, sent } = await startHanging();
  const mustHang = once(1);
  const forPayer: ActivityDeps['providers']['forPayer'] = (...payer) => {
    const client = deps.providers.forPayer(...payer);
    return { ...client, send: (...call) => (mustHang() ? never() : client.send(...call)) };
  };
  await expect(attempt({ providers: { ...deps.providers, forPayer } })).rejects.toMatchObject(failure);
  expect(await stoodStill('proposals')).toBe(true);
  expect(isDone(await attempt())).toBe(true);
  expect(new Set(sent()).size).toBe(sent().length);
}, 60_000);

test('a transaction that never settles ends the attempt, which then starts nothing', async () => {
  const { id, attempt, stoodStill, sent } = await startHanging();
  const mustHang = once(3);
  const orgHot: ActivityDeps['db']['orgHot'] = (...asked) => (mustHang() ? never() : on.http.db.orgHot(...asked));
  await expect(attempt({ db: { ...on.http.db, orgHot } })).rejects.toMatchObject(failure);
  expect(await stoodStill('line')).toBe(true);
  const before = sent().length;
  await on.http.db.org('default', (tx) =>
    tx.query('update job_controls set lease_expires_at = clock_timestamp() where job_id = $1', [id]),
  );
  expect(isDone(await attempt())).toBe(true);
  expect(sent().length).toBeGreaterThan(before);
}, 60_000);
