import { leftOutWarning } from '../../src/core/jobs/left-out.js';
import type { PolicySpec } from '../../src/core/jobs/policy.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { databasePatienceMs, retryTransient } from '../../src/platform/db/patience.js';
import { warnJob } from '../../src/jobs/store/warnings.js';
import type { ActivityDeps } from '../deps.js';

/** Adds a warning to the job: parameters that the model refuses were not sent. */
export async function warnOfLeft(
  { db, log }: ActivityDeps,
  job: JobRef,
  policy: PolicySpec,
  left: readonly string[],
): Promise<void> {
  const warning = leftOutWarning(policy, left);
  if (warning === null) return;
  await retryTransient(() => warnJob(db, job, warning), {
    patienceMs: databasePatienceMs,
    onRetry: (err) => log.warn({ err, job_id: job.jobId }, 'warning not kept; retrying'),
  });
}
