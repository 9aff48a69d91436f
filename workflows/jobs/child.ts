import { ApplicationFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  executeChild,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  ParentClosePolicy,
  sleep,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { failureOf, faultOf } from '../../src/core/jobs/fault.js';
import { jobKinds, workflowId, type JobKind } from '../../src/core/jobs/kinds.js';
import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import type { GateEvaluation } from '../../activities/index.js';
import { awaitChildJob, readChildJob } from '../activities.js';
import {
  algorithmAttribute,
  nameAttribute,
  orgAttribute,
  rolloutsAttribute,
  statusAttribute,
  type JobInput,
} from '../messages.js';

/** The wait for the end of a cancelled job doubles up to this. */
const longestWaitMs = 20_000;

/** A job that another one starts and waits for. */
export interface ChildJob {
  jobId: string;
  kind: JobKind;
  algorithm: string;
  /** The name in lists. */
  name: string;
  summary: string;
  /** Of a gate's evaluation, which has no row yet. */
  gate?: GateEvaluation;
  /** Why its parent fails if it does not complete. */
  fault(reason: string): { code: string; message: string };
}

/** Runs a job to its end. Any end but completion fails the parent; a cancelled parent ends it. */
export async function runChildJob({ orgId }: JobInput, child: ChildJob): Promise<void> {
  const job = { orgId, jobId: child.jobId };
  try {
    await startAndAwait(job, child);
  } catch (error) {
    if (CancellationScope.current().consideredCancelled)
      await CancellationScope.nonCancellable(() => cancel(job, child));
    throw error;
  }
}

/** Starts a job that goes on by itself, unless it was started. */
export async function startJob({ orgId }: JobInput, child: Omit<ChildJob, 'fault'>): Promise<void> {
  const job = { orgId, jobId: child.jobId };
  try {
    const options = { ...optionsOf(job, child), parentClosePolicy: ParentClosePolicy.ABANDON };
    await startChild(jobKinds[child.kind].workflow, options);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

function optionsOf({ orgId, jobId }: JobInput, { kind, algorithm, name, summary, gate }: Omit<ChildJob, 'fault'>) {
  return {
    workflowId: workflowId(kind, jobId),
    args: [{ orgId, jobId, ...(gate && { gate }) }],
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    staticSummary: summary,
    typedSearchAttributes: [
      { key: orgAttribute, value: orgId },
      { key: algorithmAttribute, value: algorithm },
      { key: statusAttribute, value: 'running' },
      { key: rolloutsAttribute, value: 0 },
      { key: nameAttribute, value: name },
    ],
    memo: { name, tags: [], metadata: {}, rollouts: 0 },
  };
}

async function startAndAwait(job: JobInput, child: ChildJob): Promise<void> {
  try {
    await executeChild(jobKinds[child.kind].workflow, {
      ...optionsOf(job, child),
      // After a reset Temporal refuses the request as not that of the parent.
      cancellationType: ChildWorkflowCancellationType.ABANDON,
    });
  } catch (error) {
    // Its id is the parent's own: an earlier run of the parent, or the reconciler, has started it.
    if (error instanceof WorkflowExecutionAlreadyStartedError) return adopt(job, child);
    if (CancellationScope.current().consideredCancelled || !(error instanceof ChildWorkflowFailure)) throw error;
    throw failed(child, isCancellation(error) ? 'it was cancelled' : rootCause(error));
  }
}

/** Waits for a job that is no child of this run. */
async function adopt(job: JobInput, child: ChildJob): Promise<void> {
  const { status, error } = await endOf(job);
  if (status === 'cancelled') throw failed(child, 'it was cancelled');
  if (status === 'failed') throw failed(child, error?.message ?? 'it failed');
}

/** The end on record: an operator may complete the activity that waits for it. */
async function endOf(job: JobInput): Promise<JobOutcome> {
  for (;;) {
    await awaitChildJob(job);
    const outcome = await readChildJob(job);
    if (outcome) return outcome;
    await sleep('1 second');
  }
}

/** Cancels a job and waits for its end; the reconciler ends one that does not obey. */
async function cancel(job: JobInput, { kind }: ChildJob): Promise<void> {
  const { jobId } = job;
  try {
    await getExternalWorkflowHandle(workflowId(kind, jobId)).cancel();
  } catch (error) {
    log.warn('the job was not cancelled with its parent; it may have ended', { jobId, error });
    return;
  }
  for (let ms = 100; ms < longestWaitMs; ms *= 2) {
    if (await readChildJob(job)) return;
    await sleep(ms);
  }
  log.warn('the job of a cancelled parent has not ended', { jobId });
}

function failed({ fault }: ChildJob, reason: string): ApplicationFailure {
  return ApplicationFailure.create(failureOf({ ...fault(reason.replace(/[.!?]$/, '')), retryable: true }));
}

function rootCause(error: Error): string {
  if (error.cause instanceof Error) return rootCause(error.cause);
  return error instanceof ApplicationFailure ? faultOf(error).message : error.message;
}
