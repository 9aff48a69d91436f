// Databases and their copies, as `identifyInstallation` sees them; for the tests of a file.
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import pg from 'pg';
import { pino } from 'pino';
import { connect, type Db } from '../../../src/platform/db/db.js';
import { identifyInstallation } from '../../../src/platform/temporal/installation.js';
import { installRuntime } from '../../../src/service/worker.js';
import { temporalAddress, workflowBundlePath } from '../../support/environment.js';
import { insertJob } from '../../support/job.js';

export const log = pino({ level: 'silent' });
let connection: Connection;
let native: NativeConnection;
const opened: Db[] = [];
beforeAll(async () => {
  installRuntime(log);
  connection = await Connection.connect({ address: temporalAddress() });
  native = await NativeConnection.connect({ address: temporalAddress() });
});
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});
afterAll(async () => {
  await native.close();
  await connection.close();
});

export function open(url: string): Db {
  const db = connect(url, log, 2);
  opened.push(db);
  return db;
}
export const identify = (db: Db, wanted: string | null = null) =>
  identifyInstallation(new Client({ connection }), db, log, wanted);

/** As a logical copy leaves it: the row of another place. */
export async function copied(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`update installation set place = 'elsewhere'`);
  await admin.end();
}
export async function started(db: Db) {
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
/** A worker of the original during `work`. */
export async function polled<T>(taskQueue: string, work: () => Promise<T>): Promise<T> {
  const workflowBundle = { codePath: workflowBundlePath() };
  const worker = await Worker.create({ connection: native, taskQueue, workflowBundle });
  return worker.runUntil(work);
}
export const rowOf = async (db: Db, jobId: string) =>
  (
    await db.org('default', (tx) =>
      tx.query<{ id: string; webhooks: number }>(
        `select workflow_id as id, (select count(*)::int from webhooks) as webhooks from jobs where id = $1`,
        [jobId],
      ),
    )
  )[0]!;
