import { Context } from '@temporalio/activity';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import { eventsOfRun, recordDecision, type Decision } from '../../src/storage/decisions/record.js';
import { lockJob, type JobRef } from '../../src/storage/jobs/events.js';
import { readName } from '../../src/storage/jobs/labels.js';
import { readUsage } from '../../src/storage/jobs/usage.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import type { ActivityDeps } from '../deps.js';
import { logGenerations } from './generations.js';
import { endJob, type JobResult } from './end.js';
import type { SearchUpdate } from '../../src/core/algorithms/progress.js';
import { recordSearchUpdate } from './search-update.js';
import { startEvents } from './start.js';

/** `costUsd`: of all its model calls; null: unknown. */
export interface EndedJob {
  name: string | null;
  costUsd: number | null;
}

export function lifecycleActivities({ db, temporal, metrics, log }: ActivityDeps) {
  return {
    /** Records a decision: status, outcomes of commands and events, in one transaction. */
    record: ({ decision, ...job }: JobRef & { decision: Decision }): Promise<void> =>
      db.orgHot(job.orgId, async (tx) => {
        const { events = [] } = decision;
        if (events.length === 0) {
          await recordDecision(tx, job, decision);
          return;
        }
        // The start comes first, also if the job is paused while its container is still being
        // checked.
        const [{ run }, spec] = await Promise.all([lockJob(tx, job), readSpec<JobSpec>(tx, job.jobId)]);
        const baselineKnown = spec.kind === 'session' && spec.initialPrompt !== null;
        const begun = [...startEvents(spec, { baselineKnown }), ...eventsOfRun(run, events)];
        await recordDecision(tx, job, { ...decision, events: begun });
      }),

    async recordSearch({ orgId, jobId, ...update }: JobRef & SearchUpdate): Promise<void> {
      const job = { orgId, jobId };
      logGenerations(log, job, await db.orgHot(orgId, (tx) => recordSearchUpdate(tx, job, update)));
    },

    /** Closes a job. Returns what its workflow does not know of it. */
    async finish({ orgId, jobId, ...result }: JobRef & Omit<JobResult, 'workflowId'>): Promise<EndedJob> {
      const { workflowId } = callingWorkflow();
      const { closed, name, costUsd } = await db.org(orgId, async (tx) => {
        const closed = await endJob(tx, { orgId, jobId }, { ...result, workflowId });
        const [name, { totalCostUsd }] = await Promise.all([readName(tx, jobId), readUsage(tx, jobId)]);
        return { closed, name, costUsd: totalCostUsd };
      });
      if (closed) metrics.jobEnded(closed, result.ending.status);
      return { name, costUsd };
    },

    /** Asks Temporal to cancel the calling workflow, so that it closes as CANCELED. */
    async requestCancellation() {
      const { workflowId, runId } = callingWorkflow();
      await temporal.workflow.getHandle(workflowId, runId).cancel();
    },
  };
}

function callingWorkflow() {
  const { workflowExecution } = Context.current().info;
  if (!workflowExecution) throw new TypeError('The activity must be called by a workflow.');
  return workflowExecution;
}
