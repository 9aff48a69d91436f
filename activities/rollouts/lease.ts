import { Context } from '@temporalio/activity';
import { setTimeout as delay } from 'node:timers/promises';
import type { Db, Tx } from '../../src/platform/db/db.js';
import type { ControlRow, JobRef } from '../../src/jobs/store/events.js';
import { acquireLease, renewLease } from '../../src/jobs/store/leases.js';
import type { ActivityDeps } from '../deps.js';
import { lockOwnOpenJob } from '../own-job.js';
import { leaseSeconds } from './exchange.js';
import type { Interruptions } from './interruptions.js';

const retryMs = 250;
const renewMs = (leaseSeconds * 1_000) / 3;

/**
 * Waits for the lease, which a killed runner holds until it runs out, and runs `work` in the
 * transaction that takes it, under the lock of the open job `row`. Null: interrupted before.
 */
export async function withLease<T>(
  db: Db,
  job: JobRef,
  interruptions: Interruptions,
  work: (tx: Tx, token: number, row: ControlRow) => Promise<T>,
): Promise<T | null> {
  const { taskToken } = Context.current().info;
  // The name is for people who look at the table.
  const owner = `${Buffer.from(taskToken).toString('base64url').slice(-24)}:${process.pid}`;
  for (;;) {
    const taken = await db.orgHot(job.orgId, async (tx) => {
      const row = await lockOwnOpenJob(tx, job);
      const token = await acquireLease(tx, job.jobId, owner, leaseSeconds);
      return token === null ? null : { result: await work(tx, token, row) };
    });
    if (taken) return taken.result;
    await delay(retryMs);
    if (interruptions.isStopped) return null;
  }
}

/** Renews a held lease until `end`, and tells of its loss. */
export function keepLease(
  { db, log }: Pick<ActivityDeps, 'db' | 'log'>,
  { job: { orgId, jobId }, token }: { job: JobRef; token: number },
  onLost: () => void,
): { end(): void } {
  const renew = async () => {
    try {
      const isHeld = await db.orgHot(orgId, (tx) => renewLease(tx, jobId, token, leaseSeconds));
      if (!isHeld) onLost();
    } catch (err) {
      // The next renewal may be in time.
      log.warn({ err, job_id: jobId }, 'lease not renewed');
    }
  };
  const timer = setInterval(() => void renew(), renewMs);
  return { end: () => clearInterval(timer) };
}
