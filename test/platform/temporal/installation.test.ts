import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { pino } from 'pino';
import { connect, type Db } from '../../../src/platform/db/db.js';
import { identifyInstallation, InstallationError } from '../../../src/platform/temporal/installation.js';
import { temporalAddress } from '../../support/environment.js';
import { insertJob } from '../../support/job.js';
import { createDatabase } from '../../support/servers/embedded.js';

const log = pino({ level: 'silent' });
let connection: Connection;
const opened: Db[] = [];
beforeAll(async () => {
  connection = await Connection.connect({ address: temporalAddress() });
});
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});
afterAll(() => connection.close());

function open(url: string): Db {
  const db = connect(url, log, 2);
  opened.push(db);
  return db;
}
const identify = (db: Db, wanted: string | null = null) =>
  identifyInstallation(new Client({ connection }), db, log, wanted);

/** As a logical copy leaves it: the row of another place. */
async function copied(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`update installation set place = 'elsewhere'`);
  await admin.end();
}
async function started(db: Db) {
  const job = await insertJob(db);
  await db.org('default', async (tx) => {
    await tx.query(`update jobs set workflow_started = true, created_at = now() - interval '1 minute' where id = $1`, [
      job.jobId,
    ]);
    await tx.query(`insert into webhooks (job_id, org_id, url) values ($1, 'default', 'http://x.example')`, [
      job.jobId,
    ]);
  });
  return job;
}
const rowOf = async (db: Db, jobId: string) =>
  (
    await db.org('default', (tx) =>
      tx.query<{ id: string; webhooks: number }>(
        `select workflow_id as id, (select count(*)::int from webhooks) as webhooks from jobs where id = $1`,
        [jobId],
      ),
    )
  )[0]!;

test('each database has a queue of its own, which stays', async () => {
  const [first, second] = [open(await createDatabase()), open(await createDatabase())];
  const one = await identify(first);
  expect(one.taskQueue).toBe(`ratchet-${one.id}`);
  expect(await identify(first)).toEqual(one);
  expect((await identify(second)).taskQueue).not.toBe(one.taskQueue);
});

test('the setting names the queue, and may change while no job is open', async () => {
  const db = open(await createDatabase());
  const { id, taskQueue } = await identify(db);
  expect(await identify(db, 'mine')).toEqual({ id, taskQueue: 'mine' });
  expect(await identify(db)).toEqual({ id, taskQueue });
  await started(db);
  await expect(identify(db, 'other')).rejects.toThrow(InstallationError);
  expect(await identify(db)).toEqual({ id, taskQueue });
});

test('a copy without open jobs is another installation', async () => {
  const url = await createDatabase();
  const db = open(url);
  const original = await identify(db);
  await copied(url);
  const [one, two] = await Promise.all([identify(db), identify(db)]);
  expect(one).toEqual(two);
  expect(one.id).not.toBe(original.id);
  expect(one.taskQueue).toBe(`ratchet-${one.id}`);
  expect(await identify(db)).toEqual(one);
});

test('a copy with a queue of its own reaches no workflow of the original', async () => {
  const url = await createDatabase();
  const db = open(url);
  const original = await identify(db);
  const { jobId } = await started(db);
  await copied(url);
  const copy = await identify(db, 'staging');
  expect(copy).toMatchObject({ taskQueue: 'staging' });
  expect(copy.id).not.toBe(original.id);
  expect(await rowOf(db, jobId)).toEqual({ id: `evaluation-${jobId}@${copy.id}`, webhooks: 0 });
});

test('a restored database whose jobs nobody runs goes on with them', async () => {
  const url = await createDatabase();
  const db = open(url);
  const original = await identify(db);
  const { jobId } = await started(db);
  await copied(url);
  expect(await identify(db)).toEqual(original);
  expect(await rowOf(db, jobId)).toEqual({ id: `evaluation-${jobId}`, webhooks: 1 });
});
