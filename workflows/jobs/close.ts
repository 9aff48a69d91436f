import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  log,
  sleep,
} from '@temporalio/workflow';
import { failureOf, faultOf } from '../../src/core/jobs/fault.js';
import type { JobEnd, JobOutcome } from '../../src/core/jobs/outcome.js';
import { requestCancellation } from '../activities.js';
import { listOutcome } from './lists.js';

/** The end of work that an error ended: cancelled, or failed with a reason. */
export function endOfError(error: unknown): Extract<JobEnd, { kind: 'cancelled' | 'failed' }> {
  if (isCancellation(error)) return { kind: 'cancelled' };
  const cause = error instanceof ActivityFailure ? (error.cause ?? error) : error;
  const fault =
    cause instanceof ApplicationFailure
      ? faultOf(cause)
      : { code: 'internal', message: cause instanceof Error ? cause.message : String(cause), retryable: false };
  log.info('job failed', { code: fault.code });
  return { kind: 'failed', fault };
}

/** Closes the workflow with its row's status: COMPLETED, FAILED with a reason, or CANCELED. */
export async function closeWorkflow({ status, stoppedBy, error }: JobOutcome): Promise<void> {
  if (status === 'failed') {
    const fault = error ?? { code: 'failed', message: stoppedBy, retryable: false };
    throw ApplicationFailure.create(failureOf(fault));
  }
  if (status === 'completed') return;
  // Temporal closes a workflow as CANCELED only on its own request; a signal alone is none.
  while (!CancellationScope.current().consideredCancelled) {
    try {
      await requestCancellation();
    } catch (error) {
      if (isCancellation(error)) throw error;
      log.warn('the workflow could not request its cancellation; trying again', { error });
    }
    // An operator may have completed the request by hand.
    await sleep('1 second');
  }
  await CancellationScope.current().cancelRequested;
}

/** Fails a workflow whose job cannot be closed, as where it is gone from the database. */
export async function failWorkflow(error: unknown): Promise<never> {
  const end = endOfError(error);
  if (end.kind === 'cancelled') throw error;
  const outcome: JobOutcome = { status: 'failed', stoppedBy: 'failed', error: end.fault };
  listOutcome(outcome);
  await closeWorkflow(outcome);
  throw error;
}
