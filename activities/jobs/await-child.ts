import { Context } from '@temporalio/activity';
import { setTimeout as delay } from 'node:timers/promises';
import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import { isTerminal, type Status } from '../../src/core/jobs/status.js';
import { readEnd } from '../../src/jobs/store/ended.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { Tx } from '../../src/platform/db/db.js';
import { kindOf, workflowId } from '../../src/core/jobs/kinds.js';
import { hasJob } from '../../src/jobs/store/jobs.js';
import type { ActivityDeps } from '../deps.js';
import { jobFailure } from '../errors.js';
import { withHeartbeat } from '../heartbeat.js';
import { Watch } from '../watch/watch.js';

const pollMs = 1_000;

export function awaitChildActivities(deps: ActivityDeps) {
  const { db, temporal } = deps;
  const readOutcome = ({ orgId, jobId }: JobRef) => db.org(orgId, (tx) => outcomeOf(tx, jobId));
  const requireJob = async (job: JobRef) => {
    const { status } = await temporal.workflow
      .getHandle(workflowId(kindOf(job.jobId) ?? 'evaluation', job.jobId))
      .describe();
    if (status.name === 'RUNNING' || (await db.org(job.orgId, (tx) => hasJob(tx, job)))) return;
    throw jobFailure('job_gone', `The job ${job.jobId} ended before it was stored.`);
  };
  return {
    /** Waits for the end of another job; the reconciler ends one whose workflow is closed. */
    awaitChildJob: (job: JobRef): Promise<void> => {
      const watch = new Watch(deps, job, 'awaitChildJob');
      return withHeartbeat(async () => {
        const signal = Context.current().cancellationSignal;
        await watch.line.call(requireJob(job));
        while (!(await watch.line.call(readOutcome(job)))) await delay(pollMs, undefined, { signal });
      }, watch);
    },

    /** How another job ended; null: it has not. */
    readChildJob: readOutcome,
  };
}

async function outcomeOf(tx: Tx, jobId: string): Promise<JobOutcome | null> {
  const [row] = await tx.query<{ status: Status }>('select status from jobs where id = $1', [jobId]);
  return row && isTerminal(row.status) ? (await readEnd(tx, jobId)).outcome : null;
}
