/** Checks of a schedule before it is stored or changed. */
import type { ChangeSchedule, ScheduleSpec } from '../contract/schedule.js';
import type { JobOwner } from '../../jobs/routes/create.js';
import type { HttpDeps } from '../../platform/http/deps.js';
import { ApiError, refuse } from '../../platform/http/server/errors.js';
import { budgetOf, draftRun, type Drafted } from './draft-run.js';

/**
 * Throws what no later run could mend: a request that is wrong, or prices that nobody knows. What a
 * run would meet today alone is a warning.
 */
export async function checkSchedule(deps: HttpDeps, caller: JobOwner, drafted: Drafted): Promise<string[]> {
  const { spec } = drafted;
  const reason = spec.webhook_url ? deps.checkWebhookUrl(spec.webhook_url) : null;
  if (reason !== null) throw refuse.invalid([{ pointer: '/webhook_url', message: reason }]);
  const monthUsd = spec.max_cost_usd_per_month ?? null;
  const budgets = [monthUsd, budgetOf(spec)].filter((usd) => usd !== null);
  try {
    const { warnings } = await draftRun(deps, caller, drafted, budgets.length > 0 ? Math.min(...budgets) : null);
    return warnings;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    return [`A run now would be refused with ${error.code}: ${error.message}`];
  }
}

/** A schedule after a change. Throws 422 for a time zone without cron. */
export function changedSpec(before: ScheduleSpec, { paused: _paused, ...change }: ChangeSchedule): ScheduleSpec {
  const { cron, every, timezone, ...rest } = before;
  const times = change.cron !== undefined ? { timezone } : change.every !== undefined ? {} : { cron, every, timezone };
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const spec = { ...rest, ...times, ...Object.fromEntries(given) } as ScheduleSpec;
  if (spec.timezone != null && spec.cron === undefined)
    throw refuse.invalid([{ pointer: '/timezone', message: 'is of cron alone: remove it, or give cron' }]);
  return spec;
}
