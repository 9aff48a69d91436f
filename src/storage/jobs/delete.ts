import { isTerminal, type Status } from '../../core/jobs/status.js';
import { keepSpend } from '../access/spend-quota.js';
import { forgetBytes } from '../access/stored-bytes.js';
import type { Tx } from '../db/db.js';
import { lockJob, type JobRef } from './events.js';

/** Why a job cannot be deleted: it has not ended, or another job needs it. */
export type Obstacle = { status: Status } | { neededBy: 'deployment' | 'evaluation'; id: string };

/**
 * Checks that a job may be deleted and withdraws its webhook, so that no workflow of it starts any
 * more. Returns the number of its runs, or why it may not be deleted.
 */
export async function prepareDeletion(tx: Tx, job: JobRef): Promise<{ runs: number } | Obstacle> {
  const { status, run } = await lockJob(tx, job);
  if (!isTerminal(status)) return { status };
  const obstacle = await findObstacle(tx, job.jobId);
  if (obstacle) return obstacle;
  await tx.query('delete from webhooks where job_id = $1', [job.jobId]);
  return { runs: run };
}

async function findObstacle(tx: Tx, jobId: string): Promise<Obstacle | null> {
  // A gate's evaluation has the beginning of its deployment's id; see gateJobId.
  const gateOf = `dep_${jobId.slice(4, 32)}`;
  const [row] = await tx.query<{ neededBy: 'deployment' | 'evaluation'; id: string }>(
    `select 'deployment' as "neededBy", id from deployments
      where deleted_at is null and (id = any(array(select id from jobs where source_job_id = $1)) or id between $2 and $3)
     union all
     select 'evaluation', id from jobs where source_job_id = $1 and kind = 'evaluation'
     limit 1`,
    [jobId, `${gateOf}0000`, `${gateOf}ffff`],
  );
  return row ?? null;
}

/** Deletes the rows of a job in all tables, with the recorded answers to its create. */
export async function deleteRows(tx: Tx, jobId: string): Promise<void> {
  await keepSpend(tx, jobId);
  await forgetBytes(tx, jobId);
  await tx.query(`delete from idempotency_keys where job_id = $1`, [jobId]);
  // All other tables refer to jobs with "on delete cascade".
  await tx.query('delete from jobs where id = $1', [jobId]);
}
