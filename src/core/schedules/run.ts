/** Whether a run of a schedule may begin, and on how many dollars. */

/** What a schedule has open and has spent when a run of it is due. */
export interface ScheduleState {
  /** Whether the job of an earlier run is open. */
  isOpen: boolean;
  /** Dollars of a month for all runs that begin in it; null: no limit. */
  monthUsd: number | null;
  /** Of the runs that began in this month and have ended. */
  spentUsd: number;
  /** Dollars that the request of its jobs allows each of them; null: no limit. */
  jobUsd: number | null;
}

/** `budgetUsd` null: no limit. */
export type RunDecision =
  | { kind: 'start'; budgetUsd: number | null }
  | { kind: 'skip'; code: 'still_running' | 'month_budget_spent'; detail: string };

/** Decides what becomes of a run. One job at a time, so that nothing else reserves of the month. */
export function decideRun({ isOpen, monthUsd, spentUsd, jobUsd }: ScheduleState): RunDecision {
  if (isOpen) return { kind: 'skip', code: 'still_running', detail: 'The job of an earlier run is still open.' };
  if (monthUsd === null) return { kind: 'start', budgetUsd: jobUsd };
  const left = monthUsd - spentUsd;
  if (left <= 0) {
    const detail = `The runs of this month have spent ${spentUsd} of max_cost_usd_per_month, which is ${monthUsd}. The next month begins with the whole amount.`;
    return { kind: 'skip', code: 'month_budget_spent', detail };
  }
  return { kind: 'start', budgetUsd: Math.min(left, jobUsd ?? Infinity) };
}
