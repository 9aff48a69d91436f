/**
 * When the failures of its rollouts must fail a whole job. A single failed rollout is a score; what is decided here is
 * the systemic case. Pure functions over counters that are kept in the order in which outcomes were recorded.
 */

/** Outcomes so far; `connectFailuresInARow` is the run of latest outcomes that could not reach the container at all. */
export interface OutcomeCounts {
  succeeded: number;
  failed: number;
  connectFailuresInARow: number;
}

/** How one rollout ended; `connect_failed` is a failure in which no connection came about. */
export type Outcome = 'succeeded' | 'failed' | 'connect_failed';

/** Why the job must fail, as it is stored in `error_details`. */
export interface JobFailure {
  code: 'container_unreachable' | 'too_many_failures';
  message: string;
  retryable: boolean;
}

/** The code of the fault that means that a session's budget of money is used up: it completes with its best so far. */
export const costExhausted = 'max_cost_usd';

export const noOutcomes: OutcomeCounts = { succeeded: 0, failed: 0, connectFailuresInARow: 0 };

/** From this many outcomes on the rate of failures is judged while the job still runs. */
const outcomesBeforeRate = 20;

/** This many rollouts in a row that could not connect mean that the container is gone. */
const maxConnectFailures = 10;

/** The counters after one more outcome. */
export function countOutcome(counts: OutcomeCounts, outcome: Outcome): OutcomeCounts {
  const failed = outcome !== 'succeeded';
  return {
    succeeded: counts.succeeded + (failed ? 0 : 1),
    failed: counts.failed + (failed ? 1 : 0),
    connectFailuresInARow: outcome === 'connect_failed' ? counts.connectFailuresInARow + 1 : 0,
  };
}

/** Why the job must fail now, or null. `finished`: no further outcome will come. `maxFailureRate` is between 0 and 1. */
export function mustFail(counts: OutcomeCounts, maxFailureRate: number, finished: boolean): JobFailure | null {
  if (counts.connectFailuresInARow >= maxConnectFailures) {
    return {
      code: 'container_unreachable',
      message: `${counts.connectFailuresInARow} rollouts in a row could not connect to the container; check that it runs and that container_url reaches it.`,
      retryable: true,
    };
  }
  const outcomes = counts.succeeded + counts.failed;
  const judged = finished || outcomes >= outcomesBeforeRate;
  if (!judged || counts.failed <= maxFailureRate * outcomes) return null;
  return {
    code: 'too_many_failures',
    message: `${counts.failed} of ${outcomes} rollouts failed, more than max_failure_rate ${maxFailureRate} allows; read their errors, or raise max_failure_rate.`,
    retryable: false,
  };
}
