/** Deletes marked rows in batches, each a transaction of its own: a kill repeats at most one. */
import { keepSpend } from '../../access/store/spend-quota.js';
import { forgetBytes } from '../../access/store/stored-bytes.js';
import type { Db, Tx } from '../../platform/db/db.js';
import type { JobRef } from '../../jobs/store/events.js';
import { deleteBatches } from './batches.js';
import { readRuns, type MarkedRuns } from './marks.js';

const batch = 2_000;
/** Tables of a job without a bound on their rows; model calls are the largest. */
const unbounded = [
  'reviews',
  'model_calls',
  'events',
  'rewards',
  'sensor_frames',
  'rollouts',
  'candidates',
  'graph_tasks',
];

/** The same of a deployment. */
const ofDeployments = [
  'episode_answers',
  'deployment_feedback',
  'deployment_failures',
  'deployment_requests',
  'deployment_judgements',
  'deployment_counters',
  'deployment_metrics',
  'canary_values',
];

/** Deletes the model calls of a job, and what its rollouts left besides their rewards. */
export async function deleteTraces(db: Db, job: JobRef): Promise<void> {
  for (const table of ['model_calls', 'rewards']) await deleteAll(db, job, table);
  for (let from: number | null = 0; from !== null;) from = await clearRollouts(db, job, from);
  await db.org(job.orgId, async (tx) => {
    await forgetBytes(tx, job, 'calls');
    await unmark(tx, job, 'traces');
  });
}

/** Clears a batch of rollouts from an index; returns where the next one begins, null: nowhere. */
async function clearRollouts(db: Db, { orgId, jobId }: JobRef, from: number): Promise<number | null> {
  const end = from + batch;
  return db.org(orgId, async (tx) => {
    await tx.query(
      `update rollouts set feedback = null, details = null
        where job_id = $1 and idx >= $2 and idx < $3 and (feedback is not null or details is not null)`,
      [jobId, from, end],
    );
    const rest = 'select idx from rollouts where job_id = $1 and idx >= $2 order by idx limit 1';
    const [next] = await tx.query<{ idx: number }>(rest, [jobId, end]);
    return next?.idx ?? null;
  });
}

export async function deleteEvents(db: Db, job: JobRef): Promise<void> {
  await deleteAll(db, job, 'events');
  await db.org(job.orgId, (tx) => unmark(tx, job, 'events'));
}

/**
 * Deletes a marked job, unless another process has: its histories in Temporal first, since its row
 * leads to them.
 */
export async function deleteJob(
  db: Db,
  { orgId, jobId }: JobRef,
  deleteHistories: (job: MarkedRuns) => Promise<void>,
): Promise<void> {
  const job = await db.org(orgId, (tx) => readRuns(tx, jobId));
  if (!job) return;
  await deleteHistories(job);
  await deleteRows(db, { orgId, jobId });
}

/** Deletes all rows of a job. Its histories in Temporal must be gone. */
export async function deleteRows(db: Db, job: JobRef): Promise<void> {
  const { orgId, jobId } = job;
  for (const table of unbounded) await deleteAll(db, job, table);
  for (const table of ofDeployments) await deleteAll(db, job, table, 'deployment_id');
  await db.org(orgId, async (tx) => {
    await keepSpend(tx, jobId);
    await forgetBytes(tx, job, 'all');
    await forgetDeployment(tx, jobId);
    // All other tables refer to jobs with "on delete cascade".
    await tx.query('delete from jobs where id = $1', [jobId]);
  });
}

/** Takes a deleted deployment from its name, and from between its neighbours in time. */
async function forgetDeployment(tx: Tx, id: string): Promise<void> {
  // A promotion meanwhile would name it as the one before.
  await tx.query(
    `select 1 from deployment_versions where org_id = current_setting('app.org')
        and name = (select name from deployments where id = $1) for update`,
    [id],
  );
  await tx.query('delete from deployment_names where deployment_id = $1', [id]);
  await tx.query(
    `update deployments d set previous_id = gone.previous_id from deployments gone
      where gone.id = $1 and d.previous_id = gone.id`,
    [id],
  );
}

/** Several processes may delete the rows of a job. */
function deleteAll(
  db: Db,
  { orgId, jobId }: JobRef,
  table: string,
  column: 'job_id' | 'deployment_id' = 'job_id',
): Promise<void> {
  return deleteBatches(db, orgId, { table, column, value: jobId, limit: batch, skipLocked: true });
}

async function unmark(tx: Tx, { jobId }: JobRef, what: 'traces' | 'events'): Promise<void> {
  await tx.query('delete from deletions where job_id = $1 and what = $2', [jobId, what]);
}
