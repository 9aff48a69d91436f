import { ActivityFailure, ApplicationFailure, isCancellation, log } from '@temporalio/workflow';

/** How a job ends. */
export interface JobOutcome {
  status: 'completed' | 'failed' | 'cancelled';
  stoppedBy: string;
  error?: { code: string; message: string; retryable?: boolean };
}

/** What an error that ended the story means. Nothing but a cancellation leaves a job without a reason. */
export function outcomeOfError(error: unknown): JobOutcome {
  if (isCancellation(error)) return { status: 'cancelled', stoppedBy: 'cancelled' };
  const cause = error instanceof ActivityFailure ? (error.cause ?? error) : error;
  const code = cause instanceof ApplicationFailure && cause.type ? cause.type : 'internal';
  const message = cause instanceof Error ? cause.message : String(cause);
  const details =
    cause instanceof ApplicationFailure ? (cause.details?.[0] as { retryable?: boolean } | undefined) : undefined;
  log.info('the job fails', { code, message });
  return { status: 'failed', stoppedBy: 'failed', error: { code, message, retryable: details?.retryable ?? false } };
}
