import type { ApplicationFailure } from '@temporalio/common';
import type { ContainerSpec, JobSpec } from '../../src/core/jobs/spec.js';
import { isTerminal } from '../../src/core/jobs/status.js';
import type { Tx } from '../../src/platform/db/db.js';
import { lockJob, type ControlRow, type JobRef } from '../../src/jobs/store/events.js';
import { readSecret, UnreadableSecretError } from '../../src/access/store/secrets.js';
import { jobFailure } from '../errors.js';

/** Reads the key of the job's container; null: it needs none. */
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
    throw jobFailure('secret_missing', `The container_api_key of ${origin} is no longer stored. Create the job again.`);
  return key;
}

/** The database lacks needed rows: it was restored from an older backup than Temporal. */
export function recordLost(job: JobRef): ApplicationFailure {
  return jobFailure(
    'record_lost',
    `Answers or candidates of ${job.jobId} are missing: the database was restored from an older backup. Create the job again.`,
    true,
  );
}

/** The container that runs the job's rollouts. Live traffic and jobs on data sets have none. */
export function containerOf({ container }: JobSpec): ContainerSpec {
  if (!container) throw jobFailure('internal', 'This job has no container.');
  return container;
}

/** Live traffic has no container to check, and pays for its own calls to the policy. */
export function isLive(spec: JobSpec): boolean {
  return spec.kind === 'session' && spec.rollouts === 'caller';
}

/** What a person can suggest to the search of a job. */
export function suggestionsOf(spec: JobSpec): { takesSuggestions: boolean; takesPrompts: boolean } {
  return { takesSuggestions: spec.kind === 'session', takesPrompts: !isLive(spec) };
}

/** Locks a job before a write; fails where the job was closed meanwhile. */
export async function lockOpenJob(tx: Tx, job: JobRef): Promise<ControlRow> {
  const row = await lockJob(tx, job);
  if (isTerminal(row.status)) throw jobFailure('job_closed', `The job ${job.jobId} is ${row.status}.`);
  return row;
}

/** Locks a job whose lease the caller must hold: an obsolete attempt writes nothing. */
export async function lockHeldJob(tx: Tx, job: JobRef, token: number): Promise<ControlRow> {
  const row = await lockOpenJob(tx, job);
  if (row.lease_token !== token) throw leaseLost(job);
  return row;
}

export function leaseLost({ jobId }: JobRef): Error {
  return new Error(`Another attempt has taken over the job ${jobId}.`);
}
