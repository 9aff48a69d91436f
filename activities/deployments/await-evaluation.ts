import { Context } from '@temporalio/activity';
import { setTimeout as delay } from 'node:timers/promises';
import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import { isTerminal, type Status } from '../../src/core/jobs/status.js';
import { readEnd } from '../../src/jobs/store/ended.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { Tx } from '../../src/platform/db/db.js';
import { workflowId } from '../../src/core/jobs/kinds.js';
import { hasEvaluation } from '../../src/kinds/deployment/store/gate.js';
import type { ActivityDeps } from '../deps.js';
import { jobFailure } from '../errors.js';
import { withHeartbeat } from '../heartbeat.js';
import { Watch } from '../watch/watch.js';

const pollMs = 1_000;

export function awaitEvaluationActivities(deps: ActivityDeps) {
  const { db, temporal } = deps;
  const readOutcome = ({ orgId, jobId }: JobRef) => db.org(orgId, (tx) => outcomeOf(tx, jobId));
  const requireEvaluation = async (job: JobRef) => {
    const { status } = await temporal.workflow.getHandle(workflowId('evaluation', job.jobId)).describe();
    if (status.name === 'RUNNING' || (await db.org(job.orgId, (tx) => hasEvaluation(tx, job)))) return;
    throw jobFailure('job_gone', `The evaluation ${job.jobId} ended before it was stored.`);
  };
  return {
    /** Waits for the end of an evaluation; the reconciler ends one whose workflow is closed. */
    awaitGateEvaluation: (job: JobRef): Promise<void> => {
      const watch = new Watch(deps, job, 'awaitGateEvaluation');
      return withHeartbeat(async () => {
        const signal = Context.current().cancellationSignal;
        await watch.line.call(requireEvaluation(job));
        while (!(await watch.line.call(readOutcome(job)))) await delay(pollMs, undefined, { signal });
      }, watch);
    },

    /** How an evaluation ended; null: it has not. */
    readGateEvaluation: readOutcome,
  };
}

async function outcomeOf(tx: Tx, jobId: string): Promise<JobOutcome | null> {
  const [row] = await tx.query<{ status: Status }>('select status from jobs where id = $1', [jobId]);
  return row && isTerminal(row.status) ? (await readEnd(tx, jobId)).outcome : null;
}
