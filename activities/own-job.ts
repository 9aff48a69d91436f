import { Context } from '@temporalio/activity';
import type { Tx } from '../src/platform/db/db.js';
import { lockJob, type ControlRow, type JobRef } from '../src/jobs/store/events.js';
import { jobFailure } from './errors.js';
import { lockOpenJob } from './jobs/spec.js';

/** The workflow that calls the activity. */
export function callingWorkflow() {
  const { workflowExecution } = Context.current().info;
  if (!workflowExecution) throw new TypeError('The activity must be called by a workflow.');
  return workflowExecution;
}

/** Locks a job for its own workflow; fails in any other, such as one that an operator started. */
export async function lockOwnJob(tx: Tx, job: JobRef): Promise<ControlRow> {
  const row = await lockJob(tx, job);
  requireOwn(row, job);
  return row;
}

/** Like `lockOwnJob`; also fails where the job was closed meanwhile. */
export async function lockOwnOpenJob(tx: Tx, job: JobRef): Promise<ControlRow> {
  const row = await lockOpenJob(tx, job);
  requireOwn(row, job);
  return row;
}

/** Fails where a job is not that of the calling workflow. */
export function requireOwn(row: Pick<ControlRow, 'workflow_id'>, { jobId }: JobRef): void {
  if (row.workflow_id !== callingWorkflow().workflowId)
    throw jobFailure('other_workflow', `The job ${jobId} runs in another workflow. Nothing was changed.`);
}
