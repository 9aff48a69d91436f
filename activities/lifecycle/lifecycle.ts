import { Context } from '@temporalio/activity';
import { kindOf } from '../../src/core/jobs/kinds.js';
import type { ShownJob } from '../../src/core/jobs/progress.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import { eventsOfRun, recordDecision, type Decision } from '../../src/jobs/store/decisions/record.js';
import { lockJob, type JobRef } from '../../src/jobs/store/events.js';
import { readLabels, readShown } from '../../src/jobs/store/shown.js';
import { readSpec } from '../../src/jobs/store/spec.js';
import { readShownDeployment } from '../../src/kinds/deployment/store/shown.js';
import type { ActivityDeps } from '../deps.js';
import { readEnd, type EndedJob } from '../../src/jobs/store/ended.js';
import { endJob, type EndedWork } from './end.js';
import { activitiesOf } from './kinds.js';

export function lifecycleActivities({ db, temporal, metrics }: ActivityDeps) {
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
        const prompt = 'initialPrompt' in spec ? spec.initialPrompt : null;
        const begun = [...activitiesOf(spec).startEvents(spec, prompt), ...eventsOfRun(run, events)];
        await recordDecision(tx, job, { ...decision, events: begun });
      }),

    /** Closes a job by its record; a repeated call answers how the first one closed it. */
    async finish({ orgId, jobId, ...work }: JobRef & Omit<EndedWork, 'workflowId'>): Promise<EndedJob> {
      const { workflowId } = callingWorkflow();
      const { closed, ended } = await db.org(orgId, async (tx) => {
        const closed = await endJob(tx, { orgId, jobId }, { ...work, workflowId });
        return { closed, ended: await readEnd(tx, jobId) };
      });
      if (closed) metrics.jobEnded(closed, ended.outcome.status);
      return ended;
    },

    /** What Temporal's lists show of a job of any kind, by its record. */
    readShownJob: ({ orgId, jobId }: JobRef): Promise<{ shown: ShownJob; metadata: unknown }> =>
      db.org(orgId, async (tx) => {
        const [shown, { metadata }] = await Promise.all([
          kindOf(jobId) === 'deployment'
            ? readShownDeployment(tx, jobId)
            : readShown(tx, jobId).then((row) => row.shown),
          readLabels(tx, jobId),
        ]);
        return { shown, metadata };
      }),

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
