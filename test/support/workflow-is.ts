import type { WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import { until } from './until.js';

/** Waits until a workflow has this status of Temporal, such as COMPLETED. */
export function workflowIs(
  workflow: WorkflowHandle,
  status: string,
  seconds?: number,
): Promise<WorkflowExecutionDescription> {
  return until(
    `${workflow.workflowId} is ${status}`,
    async () => {
      const seen = await workflow.describe();
      return seen.status.name === status && seen;
    },
    seconds,
  );
}
