import {
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowFailure,
  executeChild,
  isCancellation,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { failureOf, faultOf } from '../../src/core/jobs/fault.js';
import { workflowId } from '../../src/core/jobs/kinds.js';
import type { GateRun } from '../../activities/index.js';
import type { jobWorkflow } from '../job.js';
import {
  algorithmAttribute,
  nameAttribute,
  orgAttribute,
  rolloutsAttribute,
  statusAttribute,
  type JobInput,
} from '../messages.js';

/** Runs an evaluation of a gate to its end. Any end but completion fails the deployment. */
export async function runGateEvaluation({ orgId }: JobInput, { jobId, evaluation }: GateRun): Promise<void> {
  try {
    await executeChild<typeof jobWorkflow>('evaluationWorkflow', {
      workflowId: workflowId('evaluation', jobId),
      args: [{ orgId, jobId, gate: evaluation }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      staticSummary: `offline evaluation ${jobId} of the gate of ${evaluation.deploymentId}`,
      typedSearchAttributes: [
        { key: orgAttribute, value: orgId },
        { key: algorithmAttribute, value: 'none' },
        { key: statusAttribute, value: 'running' },
        { key: rolloutsAttribute, value: 0 },
        { key: nameAttribute, value: evaluation.name },
      ],
      memo: { name: evaluation.name, tags: [], metadata: {}, rollouts: 0 },
    });
  } catch (error) {
    if (CancellationScope.current().consideredCancelled || !(error instanceof ChildWorkflowFailure)) throw error;
    const reason = isCancellation(error) ? 'it was cancelled' : rootCause(error).replace(/[.!?]$/, '');
    const message = `The gate's evaluation ${jobId} gave no result: ${reason}. Its name serves what it served before.`;
    throw ApplicationFailure.create(failureOf({ code: 'gate_failed', message, retryable: true }));
  }
}

function rootCause(error: Error): string {
  if (error.cause instanceof Error) return rootCause(error.cause);
  return error instanceof ApplicationFailure ? faultOf(error).message : error.message;
}
