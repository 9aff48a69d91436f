import { expect, test } from '@jest/globals';
import { paused } from '../../../src/core/events/jobs.js';
import { appendEvents, lockJob } from '../../../src/jobs/store/events.js';
import { insertJob } from '../../support/job.js';
import { until } from '../../support/until.js';
import { databaseOfFile } from '../../support/database-of-file.js';

// Invariants: seq is 1, 2, 3 … per job without gaps, with any number of writers; a key occurs once.

const db = databaseOfFile(10);

const event = (key: string) => ({ ...paused(0, null), key });

test('concurrent writers leave no gap and no duplicate', async () => {
  const job = await insertJob(db);
  const other = await insertJob(db);
  const write = (n: number) =>
    db.org('default', async (tx) => {
      const target = n % 3 === 0 ? other : job;
      await lockJob(tx, target);
      // Neighbours share a key, so half of all events are repeats.
      await appendEvents(tx, target, [event(`a${n >> 1}`), event(`b${n >> 1}`)]);
    });
  await Promise.all(Array.from({ length: 60 }, (_, n) => write(n)));
  for (const { jobId } of [job, other]) {
    const rows = await db.org('default', (tx) =>
      tx.query<{ seq: number; key: string }>('select seq, key from events where job_id = $1 order by seq', [jobId]),
    );
    expect(rows.map((row) => row.seq)).toEqual(rows.map((_, i) => i + 1));
    expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
    const [control] = await db.org('default', (tx) =>
      tx.query<{ event_seq: number }>('select event_seq from job_controls where job_id = $1', [jobId]),
    );
    expect(control!.event_seq).toBe(rows.length);
  }
});

test('a failed transaction uses no numbers', async () => {
  const job = await insertJob(db);
  const failing = db.org('default', async (tx) => {
    await lockJob(tx, job);
    await appendEvents(tx, job, [event('lost')]);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await db.org('default', async (tx) => {
    await lockJob(tx, job);
    await appendEvents(tx, job, [event('kept')]);
  });
  const rows = await db.org('default', (tx) => tx.query('select seq, key from events where job_id = $1', [job.jobId]));
  expect(rows).toEqual([{ seq: 1, key: 'kept' }]);
});

test('a waiter for the lock sees the new status', async () => {
  const job = await insertJob(db);
  let release!: () => void;
  const held = new Promise<void>((resolve) => (release = resolve));
  let locked!: () => void;
  const isLocked = new Promise<void>((resolve) => (locked = resolve));
  const first = db.org('default', async (tx) => {
    await lockJob(tx, job);
    await tx.query(`update job_controls set control = 'stop' where job_id = $1`, [job.jobId]);
    await tx.query(`update jobs set status = 'failed', completed_at = now() where id = $1`, [job.jobId]);
    locked();
    await held;
  });
  await isLocked;
  const second = db.org('default', (tx) => lockJob(tx, job));
  await until('the second waits', () =>
    db.org('default', async (tx) => {
      const [row] = await tx.query<{ n: number }>('select count(*) as n from pg_locks where not granted');
      return row!.n > 0;
    }),
  );
  release();
  await first;
  expect(await second).toMatchObject({ status: 'failed', control: 'stop' });
});
