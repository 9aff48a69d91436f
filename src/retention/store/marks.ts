/**
 * What is to be deleted: a mark hides it from all readers at once, and stays until a worker, or the
 * request that set it, has deleted the rows.
 */
import type { JobKind } from '../../core/jobs/kinds.js';
import { isTerminal, type Status } from '../../core/jobs/status.js';
import type { Tx } from '../../platform/db/db.js';
import { lockJob, type JobRef } from '../../jobs/store/events.js';

/** What can be deleted of a closed job. */
export const deletables = ['traces', 'events', 'job'] as const;
export type Deletable = (typeof deletables)[number];

/** A job, or a part of it, that is marked. */
export interface Deletion extends JobRef {
  what: Deletable;
}

/** Why a job cannot be deleted: it has not ended, or another job needs it. */
export type Obstacle = { status: Status } | { neededBy: Dependent; id: string };
type Dependent = Extract<JobKind, 'deployment' | 'evaluation' | 'migration' | 'checkup'>;

/** Marks a closed job that nothing needs. Null: it is marked. */
export async function markJob(tx: Tx, job: JobRef): Promise<Obstacle | null> {
  const { status } = await lockJob(tx, job);
  if (!isTerminal(status)) return { status };
  const [need] = await tx.query<{ neededBy: Dependent; id: string }>(
    'select kind as "neededBy", id from needs_of($1) limit 1',
    [job.jobId],
  );
  if (need) return need;
  await hide(tx, job);
  return null;
}

/**
 * Marks a job without a check of its state. Deletes the stored answer to its create, too: a
 * repeated create must not return a deleted job.
 */
export async function hide(tx: Tx, job: JobRef): Promise<void> {
  await tx.query('update jobs set deleted = true where id = $1', [job.jobId]);
  // No workflow of it starts any more.
  await tx.query('delete from webhooks where job_id = $1', [job.jobId]);
  await tx.query('delete from idempotency_keys where job_id = $1', [job.jobId]);
  await insertMark(tx, { ...job, what: 'job' });
}

const expiredColumn = { traces: 'traces_expired', events: 'events_expired' } as const;

/** Marks traces or events of a job. False: it was extended meanwhile. */
export async function markExpired(tx: Tx, job: JobRef, what: keyof typeof expiredColumn): Promise<boolean> {
  if (!isTerminal((await lockJob(tx, job)).status)) return false;
  await tx.query(`update jobs set ${expiredColumn[what]} = true where id = $1`, [job.jobId]);
  await insertMark(tx, { ...job, what });
  return true;
}

async function insertMark(tx: Tx, { orgId, jobId, what }: Deletion): Promise<void> {
  await tx.query('insert into deletions (job_id, org_id, what) values ($1, $2, $3) on conflict do nothing', [
    jobId,
    orgId,
    what,
  ]);
}

/** Jobs of any organization that closed `days` ago, the oldest first. In the scope `worker`. */
export async function readExpired(tx: Tx, what: Deletable, days: number, most: number): Promise<JobRef[]> {
  return tx.query<JobRef & Record<string, unknown>>(
    `select org_id as "orgId", job_id as "jobId" from expired_jobs($1, now() - make_interval(days => $2), $3)`,
    [what, days, most],
  );
}

/** What is marked, the oldest first. In the scope `worker`. */
export async function readMarked(tx: Tx, most: number): Promise<Deletion[]> {
  return tx.query<Deletion & Record<string, unknown>>(
    'select org_id as "orgId", job_id as "jobId", what from due_deletions($1)',
    [most],
  );
}

/** The runs of a marked job, each with its histories in Temporal. */
export interface MarkedRuns {
  jobId: string;
  kind: JobKind;
  runs: number;
  workflowSuffix: string;
}

/** Null: another process has deleted the job. */
export async function readRuns(tx: Tx, jobId: string): Promise<MarkedRuns | null> {
  const [row] = await tx.query<MarkedRuns & Record<string, unknown>>(
    'select id as "jobId", kind, run as runs, workflow_suffix as "workflowSuffix" from jobs where id = $1',
    [jobId],
  );
  return row ?? null;
}
