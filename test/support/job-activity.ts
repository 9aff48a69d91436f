import { MockActivityEnvironment } from '@temporalio/testing';
import { workflowId } from '../../src/core/jobs/kinds.js';
import { kindOf } from './jobs-over-http.js';

/** The environment of an activity that the workflow of a job calls. */
export function activityOf(jobId: string): MockActivityEnvironment {
  const workflowExecution = { workflowId: workflowId(kindOf(jobId), jobId), runId: 'run' };
  return new MockActivityEnvironment({ workflowExecution });
}
