import type { ApplicationFailure } from '@temporalio/common';
import type { ContainerSpec, JobSpec } from '../../src/core/jobs/spec.js';
import { isTerminal } from '../../src/core/jobs/status.js';
import type { Tx } from '../../src/storage/db/db.js';
import { lockJob, type ControlRow, type JobRef } from '../../src/storage/jobs/events.js';
import { readSecret, UnreadableSecretError } from '../../src/storage/access/secrets.js';
import { jobFailure } from '../errors.js';

/** The key for the job's container, or null: it has none. */
export async function containerKey(
  tx: Tx,
  secretKey: Buffer,
  job: JobRef,
  spec: Pick<JobSpec, 'container'>,
): Promise<string | null> {
  if (!spec.container?.hasApiKey) return null;
  const { origin } = new URL(spec.container.url);
  const key = await readSecret(tx, secretKey, { ...job, name: 'container_api_key', origin }).catch((error: unknown) => {
    if (!(error instanceof UnreadableSecretError)) throw error;
    throw jobFailure('secret_unreadable', `${error.message} Create the job again.`);
  });
  if (key === null)
    throw jobFailure(
      'secret_missing',
      `The container_api_key of ${origin} is not stored any more; create the job again.`,
    );
  return key;
}

/** The workflow stands on what is not in the database: that was restored from an earlier moment than Temporal's. */
export function recordLost(job: JobRef): ApplicationFailure {
  return jobFailure(
    'record_lost',
    `Rollouts or candidates of ${job.jobId} are not in the database any more: it was restored from an earlier moment. Create the job again.`,
    true,
  );
}

/** The container whose rollouts a job has run; only sessions of live traffic may have none, and these run none. */
export function containerOf({ container }: JobSpec): ContainerSpec {
  if (!container) throw jobFailure('internal', 'The rollouts of this job are live traffic; it has no container.');
  return container;
}

/** Locks a job that an activity is about to write to; one that was closed meanwhile is written to no more. */
export async function lockOpenJob(tx: Tx, job: JobRef): Promise<ControlRow> {
  const row = await lockJob(tx, job);
  if (isTerminal(row.status)) throw jobFailure('job_closed', `The job ${job.jobId} is ${row.status}.`);
  return row;
}
