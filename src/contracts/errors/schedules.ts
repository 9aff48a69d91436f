import type { ErrorRow } from './row.js';

/** Codes of runs that a schedule left out. */
export const scheduleCodes = {
  still_running: {
    status: [],
    at: ['last_runs'],
    retry: true,
    meaning: 'The job of an earlier run of the schedule was open',
    remedy: 'Nothing: the next run comes at its time; run less often if it is seen again and again',
  },
  month_budget_spent: {
    status: [],
    at: ['last_runs'],
    retry: false,
    meaning: 'The runs of the month had spent `max_cost_usd_per_month`',
    remedy: 'Raise it, or wait for the next month (UTC)',
  },
} as const satisfies Record<string, ErrorRow>;
