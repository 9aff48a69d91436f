import { ActivityFailure, ApplicationFailure, CancellationScope, isCancellation, log } from '@temporalio/workflow';
import { failureOf, faultOf, type JobFault } from '../../src/core/jobs/fault.js';
import { requestCancellation } from '../activities.js';

/** How a job ends. */
export interface JobOutcome {
  status: 'completed' | 'failed' | 'cancelled';
  stoppedBy: string;
  error?: { code: string; message: string; retryable?: boolean };
}

/** The outcome of a job that an error ended: cancelled, or failed with a reason. */
export function outcomeOfError(error: unknown): JobOutcome {
  if (isCancellation(error)) return { status: 'cancelled', stoppedBy: 'cancelled' };
  const cause = error instanceof ActivityFailure ? (error.cause ?? error) : error;
  const fault =
    cause instanceof ApplicationFailure
      ? faultOf(cause)
      : { code: 'internal', message: cause instanceof Error ? cause.message : String(cause), retryable: false };
  log.info('job failed', { code: fault.code });
  return { status: 'failed', stoppedBy: 'failed', error: fault };
}

export function storedError({ error }: JobOutcome): JobFault | null {
  return error ? { retryable: false, ...error } : null;
}

/** Closes the workflow with its row's status: COMPLETED, FAILED with a reason, or CANCELED. */
export async function closeWorkflow(outcome: JobOutcome): Promise<void> {
  const { status, stoppedBy } = outcome;
  if (status === 'failed') {
    const fault = storedError(outcome) ?? { code: 'failed', message: stoppedBy, retryable: false };
    throw ApplicationFailure.create(failureOf(fault));
  }
  if (status === 'completed') return;
  // Temporal closes a workflow as CANCELED only on its own request; a signal alone is none.
  if (!CancellationScope.current().consideredCancelled) await requestCancellation();
  await CancellationScope.current().cancelRequested;
}
