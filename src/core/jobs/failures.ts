/**
 * Decides when failed rollouts fail a job: only systemic failure does. Pure functions over counters
 * kept in the order of recorded outcomes.
 */

/** `connectFailuresInARow`: the latest outcomes without a connection to the container. */
export interface OutcomeCounts {
  succeeded: number;
  failed: number;
  connectFailuresInARow: number;
  /** The last outcomes of each candidate on each seed; absent: none was repeated, or few failed. */
  distinct?: { succeeded: number; failed: number };
}

/** The end of a rollout; `connect_failed`: no connection was established. */
export type Outcome = 'succeeded' | 'failed' | 'connect_failed';

/** A job's failure, as stored in `error_details`. */
export interface JobFailure {
  code: 'container_unreachable' | 'too_many_failures';
  message: string;
  retryable: boolean;
}

/** The code of an exhausted cost budget: the session completes with its best candidate so far. */
export const costExhausted = 'max_cost_usd';

/** The code of an evaluation whose cost budget did not last for all seeds. */
export const costBudgetExhausted = 'cost_budget_exhausted';

/** The code of a used-up quota of spend: every model call is refused until the next day. */
export const spendQuotaExceeded = 'spend_quota_exceeded';

/** Type of the failure of an attempt whose work stood still while its heartbeats went on. */
export const workStoodStill = 'work_stood_still';

export const noOutcomes: OutcomeCounts = { succeeded: 0, failed: 0, connectFailuresInARow: 0 };

/** The failures whose message quotes the commonest error of the job's rollouts. */
const causedByRollouts = new Set([
  'baseline_failed',
  'container_unreachable',
  'too_many_failures',
  'judgement_unusable',
]);

/** The message of a failed job with the commonest cause of its failed rollouts. */
export function withCause<Failure extends { code: string; message: string }>(
  failure: Failure,
  cause: { message: string; count: number; failed: number } | null,
): Failure {
  if (!cause || !causedByRollouts.has(failure.code)) return failure;
  const { message, count, failed } = cause;
  return { ...failure, message: `${failure.message} ${count} of ${failed} failed answers: ${message}` };
}

/** Minimum outcomes before the failure rate of a running job counts. */
const outcomesBeforeRate = 20;

/** Consecutive connection failures after which the container counts as gone. */
const maxConnectFailures = 10;

export function countOutcome(counts: OutcomeCounts, outcome: Outcome): OutcomeCounts {
  const failed = outcome !== 'succeeded';
  return {
    succeeded: counts.succeeded + (failed ? 0 : 1),
    failed: counts.failed + (failed ? 1 : 0),
    connectFailuresInARow: outcome === 'connect_failed' ? counts.connectFailuresInARow + 1 : 0,
  };
}

/** The reason to fail the job now, or null; `finished`: no more outcomes follow. */
export function mustFail(counts: OutcomeCounts, maxFailureRate: number, finished: boolean): JobFailure | null {
  if (counts.connectFailuresInARow >= maxConnectFailures) {
    return {
      code: 'container_unreachable',
      message: `${counts.connectFailuresInARow} rollouts in a row could not connect to the container; check that it runs and that container_url reaches it.`,
      retryable: true,
    };
  }
  const { succeeded, failed } = counts.distinct ?? counts;
  const outcomes = succeeded + failed;
  const judged = finished || outcomes >= outcomesBeforeRate;
  if (!judged || !exceedsRate({ succeeded, failed }, maxFailureRate)) return null;
  return {
    code: 'too_many_failures',
    message: `${failed} of ${outcomes} answers failed, more than max_failure_rate ${maxFailureRate} allows; fix the cause, or raise max_failure_rate.`,
    retryable: false,
  };
}

/** Whether more than the rate of the outcomes failed. */
export function exceedsRate({ succeeded, failed }: Pick<OutcomeCounts, 'succeeded' | 'failed'>, rate: number): boolean {
  return failed > rate * (succeeded + failed);
}
