import { expect, test } from '@jest/globals';
import { forgetBytes, readStoredBytes } from '../../../src/access/store/stored-bytes.js';
import type { Db } from '../../../src/platform/db/db.js';
import { deleteEvents, deleteRows, deleteTraces } from '../../../src/retention/store/delete.js';
import { markExpired, readExpired, readMarked } from '../../../src/retention/store/marks.js';
import { databaseOfFile } from '../../support/database-of-file.js';
import { insertJob } from '../../support/job.js';

// A deletion takes many transactions: interrupted after any of them, a repetition ends it.

const db = databaseOfFile(8);
const org = <Row extends Record<string, unknown>>(sql: string, values: unknown[] = []) =>
  db.org('default', (tx) => tx.query<Row>(sql, values));

/** A closed job with `rows` model calls, events, rewards and rollouts. */
async function closedJob(rows: number, daysAgo = 10) {
  const job = await insertJob(db);
  const { jobId } = job;
  await org(
    `insert into model_calls (id, org_id, job_id, purpose, request_hash, provider, model, request, http_status)
     select 'call_' || n || $1, 'default', $1, 'rollout', '', 'p', 'm', '{}', 500 from generate_series(1, $2) n`,
    [jobId, rows],
  );
  await org(
    `insert into rollouts (id, org_id, job_id, idx, source, status, reward, feedback, details)
     select 'r_' || n || $1, 'default', $1, n * 3, 'service', 'succeeded', 1, 'good', '{}' from generate_series(0, $2 - 1) n`,
    [jobId, rows],
  );
  await org(
    `insert into events (job_id, seq, org_id, key, type, message, data)
     select $1, n, 'default', n, 't', 'm', '{}' from generate_series(1, $2) n`,
    [jobId, rows],
  );
  await org(
    `insert into rewards (id, org_id, job_id, rollout_id, body, counted)
     select 'rwd_' || n || $1, 'default', $1, n, '{}', true from generate_series(1, $2) n`,
    [jobId, rows],
  );
  await org(
    `insert into job_usage (job_id, org_id, shard, calls, prompt_tokens, completion_tokens, cost_usd, unpriced, from_table,
                            answered, cached, bytes)
     select $1, 'default', shard, 0, 0, 0, 0, 0, 0, 0, 0, case shard when -1 then 7 else 100 end
       from generate_series(-1, 1) shard`,
    [jobId],
  );
  await org(`update jobs set status = 'completed', completed_at = now() - make_interval(days => $2) where id = $1`, [
    jobId,
    daysAgo,
  ]);
  return job;
}

const counts = async (jobId: string) =>
  (
    await org(
      `select (select count(*)::int from model_calls where job_id = $1) as calls,
              (select count(*)::int from events where job_id = $1) as events,
              (select count(*)::int from rewards where job_id = $1) as rewards,
              (select count(*)::int from rollouts where job_id = $1) as rollouts,
              (select count(*)::int from rollouts where job_id = $1 and (feedback is not null or details is not null)) as commented,
              (select count(*)::int from jobs where id = $1) as jobs`,
      [jobId],
    )
  )[0];
const stored = () => db.org('default', (tx) => readStoredBytes(tx, 'default'));

/** The database, whose process is killed before its transaction number `last` + 1. */
function killedAfter(last: number): Db {
  let left = last;
  return { ...db, org: (orgId, work) => (left-- > 0 ? db.org(orgId, work) : Promise.reject(new Error('killed'))) };
}

async function repeatUntilDone(run: (some: Db) => Promise<void>): Promise<number> {
  for (let kills = 0; ; kills++) {
    try {
      await run(killedAfter(2 + kills));
      return kills;
    } catch (error) {
      if ((error as Error).message !== 'killed') throw error;
    }
  }
}

test('expired traces, killed again and again', async () => {
  const before = await stored();
  const [job, other] = [await closedJob(5_001), await closedJob(3)];
  expect(await stored()).toBe(before + 2 * 207);
  await db.org('default', (tx) => markExpired(tx, job, 'traces'));
  expect(await repeatUntilDone((some) => deleteTraces(some, job))).toBeGreaterThan(1);
  const all = { events: 5_001, rollouts: 5_001, jobs: 1 };
  expect(await counts(job.jobId)).toEqual({ ...all, calls: 0, rewards: 0, commented: 0 });
  expect(await counts(other.jobId)).toEqual({ calls: 3, events: 3, rewards: 3, rollouts: 3, commented: 3, jobs: 1 });
  expect(await stored()).toBe(before + 207 + 7);
  expect((await db.worker((tx) => readMarked(tx, 10))).map(({ jobId }) => jobId)).not.toContain(job.jobId);
});

test('a job by two processes at once, and expired events beside it', async () => {
  const before = await stored();
  const [job, other] = [await closedJob(4_500), await closedJob(2_500)];
  await db.org('default', (tx) => markExpired(tx, other, 'events'));
  await Promise.all([deleteRows(db, job), deleteRows(db, job), deleteEvents(db, other)]);
  const none = { calls: 0, events: 0, rewards: 0, rollouts: 0, commented: 0, jobs: 0 };
  expect(await counts(job.jobId)).toEqual(none);
  expect(await counts(other.jobId)).toMatchObject({ calls: 2_500, events: 0, rollouts: 2_500, jobs: 1 });
  expect(await stored()).toBe(before + 207);
});

test('bytes of the past that are summed up already are taken from the sum', async () => {
  const before = await stored();
  const job = await closedJob(0);
  await org('update job_usage set day = day - 10');
  await org('update stored_bytes set through = through - 10');
  expect(await stored()).toBe(before + 207);
  await db.org('default', (tx) => forgetBytes(tx, job, 'calls'));
  expect(await stored()).toBe(before + 7);
  await db.org('default', (tx) => forgetBytes(tx, job, 'all'));
  expect(await stored()).toBe(before);
});

test('the oldest expired jobs come first, and each once', async () => {
  const [old, older, young] = [await closedJob(0, 40), await closedJob(0, 50), await closedJob(0, 29)];
  const expired = async (most = 100) =>
    (await db.worker((tx) => readExpired(tx, 'traces', 30, most))).map(({ jobId }) => jobId);
  expect(await expired()).toEqual([older.jobId, old.jobId]);
  expect(await expired(1)).toEqual([older.jobId]);
  await db.org('default', (tx) => markExpired(tx, older, 'traces'));
  expect(await expired()).toEqual([old.jobId]);
  await org(`update jobs set status = 'running', completed_at = null where id = $1`, [young.jobId]);
  expect(await db.org('default', (tx) => markExpired(tx, young, 'traces'))).toBe(false);
});
