import { isDeleted } from '../../src/kinds/deployment/store/deployments.js';
import type { Tx } from '../../src/platform/db/db.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { jobFailure } from '../errors.js';
import { lockOpenJob } from '../jobs/spec.js';

/** Locks the job of a deployment; fails where the deployment was deleted. */
export async function lockUndeleted(tx: Tx, job: JobRef): Promise<void> {
  await lockOpenJob(tx, job);
  await requireUndeleted(tx, job);
}

/** Fails where the deployment was deleted. */
export async function requireUndeleted(tx: Tx, { jobId }: JobRef): Promise<void> {
  if (await isDeleted(tx, jobId)) throw deleted();
}

export function deleted() {
  return jobFailure('deployment_deleted', 'The deployment was deleted before it was ready.');
}
