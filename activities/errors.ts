import { ApplicationFailure } from '@temporalio/common';
import { costExhausted } from '../src/core/jobs/failures.js';
import { JobGoneError } from '../src/storage/jobs/events.js';
import { isPermanent } from '../src/storage/db/postgres-errors.js';

/**
 * Decides for every activity which errors are retried: outside faults are, faults of the service
 * fail the job with the reason.
 */
export function withErrorClasses<Activities extends object>(activities: Activities): Activities {
  const classified = Object.entries(activities).map(([name, run]: [string, (input: unknown) => Promise<unknown>]) => [
    name,
    async (input: unknown) => {
      try {
        return await run(input);
      } catch (error) {
        throw classifyError(error);
      }
    },
  ]);
  return Object.fromEntries(classified) as Activities;
}

/** The error as Temporal sees it: all but an ApplicationFailure are retried. */
function classifyError(error: unknown): unknown {
  if (error instanceof ApplicationFailure || !(error instanceof Error)) return error;
  if (error instanceof JobGoneError) return jobFailure('job_gone', error.message);
  const isOurs = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
  if (!isOurs && !isPermanent(error)) return error;
  const message = `Internal error: ${error.message}`;
  return ApplicationFailure.create({ type: 'internal', nonRetryable: true, message, cause: error });
}

/** The failure that no retry mends; null: a retry may succeed. */
export function finalFailure(error: unknown): ApplicationFailure | null {
  const failure = classifyError(error);
  return failure instanceof ApplicationFailure && failure.nonRetryable ? failure : null;
}

/** A failure that ends the job with this code and message; `retryable`: a new job may succeed. */
export function jobFailure(code: string, message: string, retryable = false): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, code, { retryable });
}

export function isCostSpent(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === costExhausted;
}
