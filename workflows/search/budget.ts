import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';
import type { SessionLimits } from '../../activities/index.js';
import { costExhausted, spendQuotaExceeded } from '../../src/core/jobs/failures.js';
import type { SearchView } from '../../src/core/search/protocol.js';
import type { JobOutcome } from '../jobs/close.js';
import type { JobControl } from '../jobs/control.js';
import { RunningTime } from '../jobs/running-time.js';

/** A budget, or quota, that can end a search before its algorithm does. */
type SpentBudget = 'max_minutes' | typeof costExhausted | typeof spendQuotaExceeded;

/** The job's state that decides its outcome once a budget is spent. */
export interface BudgetContext {
  search: SearchView | null;
  control: JobControl;
  maxFailureRate: number;
  /** How the user can make the baseline cheaper. */
  advice: string;
}

/** The limits of a run after others that ran for `usedMs`. */
export function limitsLeft(limits: SessionLimits, usedMs: number): SessionLimits {
  return limits.runMs === undefined ? limits : { ...limits, runMs: limits.runMs - usedMs, usedMs };
}

/** The clock of `max_minutes`; null: no limit. `leftMs`: the rest of an earlier run. */
export function sessionTime({ runMs }: SessionLimits, leftMs: number | undefined): RunningTime | null {
  if (leftMs !== undefined) return new RunningTime(leftMs, true);
  return runMs === undefined ? null : new RunningTime(runMs, false);
}

/** The outcome of a session with a spent budget: its best so far, or failed without one. */
export function outcomeOfSpentBudget(
  spent: SpentBudget,
  { search, control, maxFailureRate, advice }: BudgetContext,
): JobOutcome {
  if (search?.bestCandidate != null) return control.completed(spent, maxFailureRate);
  const isQuota = spent === spendQuotaExceeded;
  const name = isQuota ? 'The quota spend_usd_per_day' : `budget.${spent}`;
  const remedy = isQuota ? 'Raise it, wait for the next day' : 'Raise it';
  const message = `${name} was used up before the baseline was evaluated. ${remedy}, or ${advice}.`;
  return { status: 'failed', stoppedBy: spent, error: { code: spent, message, retryable: isQuota } };
}

/** The outcome of an error that reports spent money; null: any other error. */
export function outcomeIfCostSpent(error: unknown, context: BudgetContext): JobOutcome | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const spent = [costExhausted, spendQuotaExceeded] as const;
  const code = cause instanceof ApplicationFailure ? spent.find((known) => known === cause.type) : undefined;
  return code === undefined ? null : outcomeOfSpentBudget(code, context);
}

export function interruptWhenExpired(time: RunningTime, control: JobControl, outcome: () => JobOutcome): void {
  time
    .expired(() => control.status === 'running')
    .then(() => control.interrupt(outcome))
    .catch((error: unknown) => {
      // The job ended before its time was over.
      if (!isCancellation(error)) throw error;
    });
}
