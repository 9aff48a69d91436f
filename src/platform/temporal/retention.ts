import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Db } from '../db/db.js';
import type { JobRef } from '../../jobs/store/events.js';
import { deleteEvents, deleteJob, deleteTraces } from '../../retention/store/delete.js';
import {
  deletables,
  hide,
  markExpired,
  markJob,
  readExpired,
  readMarked,
  type Deletable,
  type Deletion,
} from '../../retention/store/marks.js';
import {
  deleteOldAudit,
  deleteOldTraffic,
  deleteOrg,
  endJobs,
  readAnyJobs,
  readOrgs,
  tidyOrg,
} from '../../retention/store/orgs.js';
import { startRepeating } from '../../util/repeating.js';
import { deleteHistories } from './delete-history.js';

const batch = 200;
const hourMs = 3_600_000;

/** Days that a closed job, parts of it, and entries of the audit log are kept; null: for ever. */
export type KeepDays = Record<Deletable | 'audit', number | null>;

const keepAll: KeepDays = { traces: null, events: null, job: null, audit: null };

export interface RetentionOptions {
  /** Default: everything is kept. */
  keep?: KeepDays;
  /** Time between two passes. */
  everyMs?: number;
  /** Called with the bytes that each organization stores. */
  onSizes?: (bytes: ReadonlyMap<string, number>) => void;
}

export interface Retention {
  /** Runs a pass now that marks expired jobs and deletes all marked data. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Applies the age limits, and deletes marked jobs, marked parts of jobs, and organizations. Each
 * step is idempotent: several processes may run it.
 */
export function startRetention(
  client: Client,
  db: Db,
  log: Logger,
  { keep = keepAll, everyMs = 5_000, onSizes }: RetentionOptions = {},
): Retention {
  let nextSearchAt = performance.now();
  const { run, stop } = startRepeating(
    async (stopping) => {
      const stoppable = untilStopped(db, stopping);
      if (performance.now() >= nextSearchAt) {
        await markAllExpired(stoppable, log, keep);
        onSizes?.(await tidyAll(stoppable, log, keep.audit));
        nextSearchAt = performance.now() + hourMs;
      }
      await deleteAllMarked(client, stoppable, log, stopping);
    },
    everyMs,
    (err) => log.warn({ err }, 'retention pass failed; retrying at the next'),
  );
  return {
    async sweep() {
      nextSearchAt = performance.now();
      await run();
    },
    stop,
  };
}

/** A deletion of many rows stops between two batches. */
function untilStopped(db: Db, stopping: AbortSignal): Db {
  return {
    ...db,
    org: async (orgId, work) => {
      stopping.throwIfAborted();
      return db.org(orgId, work);
    },
  };
}

async function deleteAllMarked(client: Client, db: Db, log: Logger, stopping: AbortSignal): Promise<void> {
  for (const deletion of await db.worker((tx) => readMarked(tx, batch))) {
    if (stopping.aborted) return;
    await deleteMarked(client, db, deletion).catch((err: Error) =>
      log.warn({ err, job_id: deletion.jobId, what: deletion.what }, 'not deleted yet; retrying at the next pass'),
    );
  }
  for (const orgId of await db.worker((tx) => readOrgs(tx, 'deleted'))) {
    if (stopping.aborted) return;
    await eraseOrg(client, db, orgId).then(
      (progress) => log.info({ organization: orgId, progress }, 'deletion of an organization'),
      (err: Error) => log.warn({ err, organization: orgId }, 'organization not deleted yet; retrying at the next pass'),
    );
  }
}

async function deleteMarked(client: Client, db: Db, { what, ...job }: Deletion): Promise<void> {
  switch (what) {
    case 'traces':
      return deleteTraces(db, job);
    case 'events':
      return deleteEvents(db, job);
    case 'job':
      return deleteJob(db, job, (runs) => deleteHistories(client, runs));
  }
}

async function markAllExpired(db: Db, log: Logger, keep: KeepDays): Promise<void> {
  for (const what of deletables) {
    const days = keep[what];
    if (days === null) continue;
    for (;;) {
      const jobs = await db.worker((tx) => readExpired(tx, what, days, batch));
      let marked = 0;
      for (const job of jobs) if (await markOne(db, log, job, what)) marked += 1;
      if (jobs.length < batch || marked === 0) break;
    }
  }
}

/** Whether it is marked now: a job may be extended or needed again meanwhile. */
async function markOne(db: Db, log: Logger, job: JobRef, what: Deletable): Promise<boolean> {
  try {
    return await db.org(job.orgId, async (tx) =>
      what === 'job' ? (await markJob(tx, job)) === null : markExpired(tx, job, what),
    );
  } catch (err) {
    log.warn({ err, job_id: job.jobId, what }, 'expired job not marked; retrying in an hour');
    return false;
  }
}

async function tidyAll(db: Db, log: Logger, auditDays: number | null): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const orgId of await db.worker((tx) => readOrgs(tx, 'live'))) {
    try {
      if (auditDays !== null) await deleteOldAudit(db, orgId, auditDays);
      await deleteOldTraffic(db, orgId);
      sizes.set(orgId, await db.org(orgId, (tx) => tidyOrg(tx, orgId)));
    } catch (err) {
      log.warn({ err, organization: orgId }, 'organization not tidied; retrying in an hour');
    }
  }
  return sizes;
}

/** Ends the jobs of a deleted organization; the next pass deletes them, and the organization. */
async function eraseOrg(client: Client, db: Db, orgId: string): Promise<'begun' | 'done'> {
  // Rollouts in flight still write to the jobs that end now.
  if (await endAllJobs(client, db, orgId)) return 'begun';
  for (;;) {
    const jobs = await db.org(orgId, (tx) => readAnyJobs(tx, batch));
    if (jobs.length === 0) break;
    for (const job of jobs) {
      await db.org(orgId, (tx) => hide(tx, job));
      await deleteMarked(client, db, { ...job, what: 'job' });
    }
  }
  await deleteOrg(db, orgId);
  return 'done';
}

/** Whether there were open jobs. */
async function endAllJobs(client: Client, db: Db, orgId: string): Promise<boolean> {
  for (let isFirst = true; ; isFirst = false) {
    const workflowIds = await db.org(orgId, (tx) => endJobs(tx, batch));
    if (workflowIds.length === 0) return !isFirst;
    for (const workflowId of workflowIds) await terminate(client, workflowId);
  }
}

async function terminate(client: Client, workflowId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).terminate('organization deleted');
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
