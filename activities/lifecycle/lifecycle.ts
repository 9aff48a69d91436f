import { kindOf } from '../../src/core/jobs/kinds.js';
import type { ShownJob } from '../../src/core/jobs/progress.js';
import type { NewEvent } from '../../src/core/events/event.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import {
  eventsOfRun,
  recordDecision,
  recordFrom,
  type ControlState,
  type Decision,
  type Recorded,
} from '../../src/jobs/store/decisions/record.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { readLabels, readShown } from '../../src/jobs/store/shown.js';
import { readSpec } from '../../src/jobs/store/spec.js';
import { readShownDeployment } from '../../src/kinds/deployment/store/shown.js';
import type { ActivityDeps } from '../deps.js';
import { hasSlots } from '../../src/rollouts/store/slots.js';
import { callingWorkflow, lockOwnJob } from '../own-job.js';
import { readEnd, type EndedJob } from '../../src/jobs/store/ended.js';
import { endJob, type EndedWork } from './end.js';
import { activitiesOf } from './kinds.js';

/** How a job ended, if its record agrees. */
export type Finished = ({ kind: 'ended' } & EndedJob) | { kind: 'unfinished' };

export function lifecycleActivities({ db, temporal, metrics, log }: ActivityDeps) {
  return {
    /** Records a decision: status, outcomes of commands and events, in one transaction. */
    record: ({ from, decision, ...job }: JobRef & { from: ControlState; decision: Decision }): Promise<Recorded> =>
      db.orgHot(job.orgId, async (tx) => {
        const { events = [] } = decision;
        if (events.length === 0) return recordFrom(tx, job, await lockOwnJob(tx, job), { from, decision });
        // The start comes first, also if the job is paused while its container is still being
        // checked.
        const [row, spec] = await Promise.all([lockOwnJob(tx, job), readSpec<JobSpec>(tx, job.jobId)]);
        const prompt = 'initialPrompt' in spec ? spec.initialPrompt : null;
        const begun = [...activitiesOf(spec).startEvents(spec, prompt), ...eventsOfRun(row.run, events)];
        return recordFrom(tx, job, row, { from, decision: { ...decision, events: begun } });
      }),

    /** Records signals without effect in the log of an open job. */
    recordIgnored: ({ events, ...job }: JobRef & { events: NewEvent[] }): Promise<boolean> =>
      db.org(job.orgId, (tx) => recordDecision(tx, job, { events })),

    /** Whether a job has requests that live traffic has not answered. */
    awaitsTraffic: ({ orgId, jobId }: JobRef): Promise<boolean> => db.org(orgId, (tx) => hasSlots(tx, jobId)),

    /** Stops the running work of a job that is about to end. */
    stopWork: (job: JobRef): Promise<void> =>
      db.orgHot(job.orgId, async (tx) => {
        await lockOwnJob(tx, job);
        await recordDecision(tx, job, { isEnding: true });
      }),

    /**
     * Closes a job by its record; a repeated call answers how the first one closed it.
     * `unfinished`: the record has work left, and the job stays open.
     */
    async finish({ orgId, jobId, ...work }: JobRef & EndedWork): Promise<Finished> {
      const { closed, finished } = await db.org(orgId, async (tx) => {
        const closed = await endJob(tx, { orgId, jobId }, work);
        if (closed === 'unfinished') return { closed: null, finished: { kind: 'unfinished' as const } };
        return { closed, finished: { kind: 'ended' as const, ...(await readEnd(tx, jobId)) } };
      });
      if (closed && finished.kind === 'ended') {
        const { status, error } = finished.outcome;
        metrics.jobEnded(closed, status);
        if (error) log.warn({ job_id: jobId, code: error.code, reason: error.message }, 'job failed');
      }
      return finished;
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
