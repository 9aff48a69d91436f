import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { costExhausted } from '../src/core/jobs/failures.js';
import { faultOf, failureOf } from '../src/core/jobs/fault.js';
import { JobGoneError } from '../src/jobs/store/events.js';
import { isPermanent } from '../src/platform/db/postgres-errors.js';
import { ownRejections, UnhandledRejection } from './unhandled.js';

/**
 * Decides for every activity which errors are retried: outside faults are, faults of the service
 * fail the job with the reason.
 */
export function withErrorClasses<Activities extends object>(activities: Activities, log: Logger): Activities {
  const classified = Object.entries(activities).map(([name, run]: [string, (input: unknown) => Promise<unknown>]) => [
    name,
    async (input: unknown) => {
      try {
        return await ownRejections(() => run(input));
      } catch (error) {
        // The log alone gets the stack: Temporal shows no text of the error.
        if (isInternal(error)) log.error({ err: error, activity: name }, 'internal error in an activity');
        throw classifyError(error);
      }
    },
  ]);
  return Object.fromEntries(classified) as Activities;
}

/** The error as Temporal sees it: all but an ApplicationFailure are retried. */
function classifyError(error: unknown): unknown {
  if (error instanceof JobGoneError) return jobFailure('job_gone', error.message);
  return isInternal(error) ? jobFailure('internal', `Internal error: ${error.message}`) : error;
}

/** Whether an error is a fault of the service, which a retry would meet again. */
export function isInternal(error: unknown): error is Error {
  if (error instanceof ApplicationFailure || error instanceof JobGoneError || !(error instanceof Error)) return false;
  const isOurs = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
  if (error instanceof UnhandledRejection) return true;
  return isOurs || isPermanent(error);
}

/** The failure that no retry mends; null: a retry may succeed. */
export function finalFailure(error: unknown): ApplicationFailure | null {
  const failure = classifyError(error);
  return failure instanceof ApplicationFailure && failure.nonRetryable ? failure : null;
}

/** A failure that ends the job with this code and message; `retryable`: a new job may succeed. */
export function jobFailure(code: string, message: string, retryable = false): ApplicationFailure {
  return ApplicationFailure.create(failureOf({ code, message, retryable }));
}

/** The whole message of an error; that of a failure of Temporal is in its details. */
export function messageOf(error: unknown): string {
  if (error instanceof ApplicationFailure) return faultOf(error).message;
  return error instanceof Error ? error.message : String(error);
}

export function isCostSpent(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === costExhausted;
}
