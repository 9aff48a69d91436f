import { ApplicationFailure } from '@temporalio/common';
import { costExhausted } from '../src/core/jobs/failures.js';
import { JobGoneError } from '../src/storage/jobs/events.js';
import { isPermanent } from '../src/storage/db/postgres-errors.js';

/** Outside faults are retried, faults of the service fail the job with the reason. */
export async function classifyErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApplicationFailure || !(error instanceof Error)) throw error;
    if (error instanceof JobGoneError) throw jobFailure('job_gone', error.message);
    const ours = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
    if (ours || isPermanent(error)) {
      throw ApplicationFailure.create({
        type: 'internal',
        nonRetryable: true,
        message: `Internal error: ${error.message}`,
        cause: error,
      });
    }
    throw error;
  }
}

/** A failure that ends the job with this code and message; `retryable`: a new job may succeed. */
export function jobFailure(code: string, message: string, retryable = false): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, code, { retryable });
}

export function isCostSpent(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === costExhausted;
}
