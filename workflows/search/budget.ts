import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';
import type { SessionLimits } from '../../activities/index.js';
import { costExhausted } from '../../src/core/jobs/failures.js';
import type { SearchView } from '../../src/core/search/protocol.js';
import type { JobOutcome } from '../jobs/close.js';
import type { JobControl } from '../jobs/control.js';
import { RunningTime } from '../jobs/running-time.js';

/** A budget that may end a session in the middle of its search. */
type SpentBudget = 'max_minutes' | typeof costExhausted;

/** Why there is no result, for a session whose budget was used up before its baseline was evaluated. */
const tooSmall: Record<SpentBudget, string> = {
  max_minutes: 'budget.max_minutes was over before the baseline was evaluated',
  max_cost_usd: 'budget.max_cost_usd was used up before the baseline was evaluated',
};

/** A job that searches, as its budgets see it. */
export interface BudgetContext {
  search: SearchView | null;
  control: JobControl;
  maxFailureRate: number;
  /** What its baseline takes less with. */
  less: string;
}

/** The clock of a session with `max_minutes`, null without; `leftMs` is what an earlier run handed on. */
export function sessionTime({ runMs }: SessionLimits, leftMs: number | undefined): RunningTime | null {
  if (leftMs !== undefined) return new RunningTime(leftMs, true);
  return runMs === undefined ? null : new RunningTime(runMs, false);
}

/** How a session ends whose budget is used up: with the best so far, or as failed where there is none. */
export function outcomeOfSpentBudget(
  spent: SpentBudget,
  { search, control, maxFailureRate, less }: BudgetContext,
): JobOutcome {
  if (search?.bestCandidate != null) return control.completed(spent, maxFailureRate);
  const message = `${tooSmall[spent]}, so there is nothing to complete with; raise it, or ${less}.`;
  return { status: 'failed', stoppedBy: spent, error: { code: spent, message } };
}

/** How a session ends that an error tells to have spent its money; null: the error tells of something else. */
export function outcomeIfCostSpent(error: unknown, spender: BudgetContext): JobOutcome | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.type === costExhausted
    ? outcomeOfSpentBudget(costExhausted, spender)
    : null;
}

/** Ends the job when its time is over. */
export function interruptWhenOver(time: RunningTime, control: JobControl, ending: () => JobOutcome): void {
  time
    .over(() => control.status === 'running')
    .then(() => control.interrupt(ending()))
    .catch((error: unknown) => {
      // The job has ended otherwise.
      if (!isCancellation(error)) throw error;
    });
}
