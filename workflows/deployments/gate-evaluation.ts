import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  executeChild,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  sleep,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { failureOf, faultOf } from '../../src/core/jobs/fault.js';
import { workflowId } from '../../src/core/jobs/kinds.js';
import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import type { GateRun } from '../../activities/index.js';
import { awaitGateEvaluation, readGateEvaluation } from '../activities.js';
import type { jobWorkflow } from '../job.js';
import {
  algorithmAttribute,
  nameAttribute,
  orgAttribute,
  rolloutsAttribute,
  statusAttribute,
  type JobInput,
} from '../messages.js';

/** The wait for the end of a cancelled evaluation doubles up to this. */
const longestWaitMs = 20_000;

/** Runs an evaluation of a gate to its end. Any end but completion fails the deployment. */
export async function runGateEvaluation({ orgId }: JobInput, run: GateRun): Promise<void> {
  const job = { orgId, jobId: run.jobId };
  try {
    await startAndAwait(job, run);
  } catch (error) {
    if (CancellationScope.current().consideredCancelled) await CancellationScope.nonCancellable(() => cancel(job));
    throw error;
  }
}

async function startAndAwait({ orgId, jobId }: JobInput, { evaluation }: GateRun): Promise<void> {
  try {
    await executeChild<typeof jobWorkflow>('evaluationWorkflow', {
      workflowId: workflowId('evaluation', jobId),
      args: [{ orgId, jobId, gate: evaluation }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      // After a reset Temporal refuses the request as not that of the parent.
      cancellationType: ChildWorkflowCancellationType.ABANDON,
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
    // Its id is the gate's own: an earlier run of this workflow, which was reset, has started it.
    if (error instanceof WorkflowExecutionAlreadyStartedError) return adopt({ orgId, jobId });
    if (CancellationScope.current().consideredCancelled || !(error instanceof ChildWorkflowFailure)) throw error;
    throw gateFailed(jobId, isCancellation(error) ? 'it was cancelled' : rootCause(error));
  }
}

/** Waits for an evaluation that is no child of this run. */
async function adopt(job: JobInput): Promise<void> {
  const { status, error } = await endOf(job);
  if (status === 'cancelled') throw gateFailed(job.jobId, 'it was cancelled');
  if (status === 'failed') throw gateFailed(job.jobId, error?.message ?? 'it failed');
}

/** The end on record: an operator may complete the activity that waits for it. */
async function endOf(job: JobInput): Promise<JobOutcome> {
  for (;;) {
    await awaitGateEvaluation(job);
    const outcome = await readGateEvaluation(job);
    if (outcome) return outcome;
    await sleep('1 second');
  }
}

/** Cancels an evaluation and waits for its end; the reconciler ends one that does not obey. */
async function cancel(job: JobInput): Promise<void> {
  const { jobId } = job;
  try {
    await getExternalWorkflowHandle(workflowId('evaluation', jobId)).cancel();
  } catch (error) {
    log.warn('the evaluation of the gate was not cancelled; it may have ended', { jobId, error });
    return;
  }
  for (let ms = 100; ms < longestWaitMs; ms *= 2) {
    if (await readGateEvaluation(job)) return;
    await sleep(ms);
  }
  log.warn('the evaluation of the gate has not ended', { jobId });
}

function gateFailed(jobId: string, reason: string): ApplicationFailure {
  const message = `The gate's evaluation ${jobId} gave no result: ${reason.replace(/[.!?]$/, '')}. Its name serves what it served before.`;
  return ApplicationFailure.create(failureOf({ code: 'gate_failed', message, retryable: true }));
}

function rootCause(error: Error): string {
  if (error.cause instanceof Error) return rootCause(error.cause);
  return error instanceof ApplicationFailure ? faultOf(error).message : error.message;
}
