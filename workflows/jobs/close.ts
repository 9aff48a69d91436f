import { ActivityFailure, ApplicationFailure, CancellationScope, isCancellation, log } from '@temporalio/workflow';
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
  const code = cause instanceof ApplicationFailure && cause.type ? cause.type : 'internal';
  const message = cause instanceof Error ? cause.message : String(cause);
  const details =
    cause instanceof ApplicationFailure ? (cause.details?.[0] as { retryable?: boolean } | undefined) : undefined;
  log.info('job failed', { code, message });
  return { status: 'failed', stoppedBy: 'failed', error: { code, message, retryable: details?.retryable ?? false } };
}

export function storedError({ error }: JobOutcome): { code: string; message: string; retryable: boolean } | null {
  return error ? { retryable: false, ...error } : null;
}

/** Closes the workflow with its row's status: COMPLETED, FAILED with a reason, or CANCELED. */
export async function closeWorkflow({ status, stoppedBy, error }: JobOutcome): Promise<void> {
  if (status === 'failed') throw ApplicationFailure.nonRetryable(error?.message ?? stoppedBy, error?.code ?? 'failed');
  if (status === 'completed') return;
  // Temporal closes a workflow as CANCELED only on its own request; a signal alone is none.
  if (!CancellationScope.current().consideredCancelled) await requestCancellation();
  await CancellationScope.current().cancelRequested;
}
