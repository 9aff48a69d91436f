import { ApplicationFailure } from '@temporalio/common';
import { costExhausted } from '../src/core/jobs/failures.js';
import { JobGoneError } from '../src/storage/jobs/events.js';
import { sqlStateOf } from '../src/storage/db/patience.js';

/**
 * SQLSTATE classes that a retry cannot mend: bad data, broken constraints, wrong statements, missing rights.
 * All else that Postgres says (connection lost, shutting down, read-only for a while, too many connections, deadlock) passes.
 */
const hopeless = /^(21|22|23|42)/;

/**
 * Decides, for every activity, what is retried: faults of the outside world are, faults of ours are not. A job whose
 * activity is not retried fails with the reason instead of trying for ever.
 */
export async function classifyErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApplicationFailure || !(error instanceof Error)) throw error;
    if (error instanceof JobGoneError) throw jobFailure('job_gone', error.message);
    const ours = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
    if (ours || hopeless.test(sqlStateOf(error) ?? '')) {
      throw ApplicationFailure.create({
        type: 'internal',
        nonRetryable: true,
        message: `An error of the service itself: ${error.message}`,
        cause: error,
      });
    }
    throw error;
  }
}

/** A failure that ends the job with this code and message; `retryable`: the same job may well work another time. */
export function jobFailure(code: string, message: string, retryable = false): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, code, { retryable });
}

/** Whether an error says that the job's money is used up. */
export function isCostSpent(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === costExhausted;
}
