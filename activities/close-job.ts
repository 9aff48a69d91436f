import { endEvents } from '../src/core/events/jobs.js';
import type { JobFault } from '../src/core/jobs/fault.js';
import type { JobKind } from '../src/core/jobs/kinds.js';
import type { JobOutcome } from '../src/core/jobs/outcome.js';
import { finishJob } from '../src/jobs/store/decisions/record.js';
import { readEnd } from '../src/jobs/store/ended.js';
import type { JobRef } from '../src/jobs/store/events.js';
import type { ActivityDeps } from './deps.js';
import { lockOwnJob } from './own-job.js';

/** An end without a result. */
export interface Ending {
  status: 'failed' | 'cancelled';
  error: JobFault | null;
}

/** Closes a job; returns its end on record, which may be an earlier one. */
export async function closeJob(
  { db, metrics, log }: Pick<ActivityDeps, 'db' | 'metrics' | 'log'>,
  kind: JobKind,
  job: JobRef,
  { status, error }: Ending,
): Promise<JobOutcome> {
  const events = endEvents(kind, error ? { status: 'failed', error } : { status: 'cancelled' });
  const { isClosed, outcome } = await db.org(job.orgId, async (tx) => {
    await lockOwnJob(tx, job);
    const isClosed = await finishJob(tx, job, { status, stoppedBy: status, error, accepted: [], events });
    return { isClosed, outcome: (await readEnd(tx, job.jobId)).outcome };
  });
  if (isClosed) metrics.jobEnded(kind, status);
  if (isClosed && error) log.warn({ job_id: job.jobId, code: error.code, reason: error.message }, 'job failed');
  return outcome;
}
