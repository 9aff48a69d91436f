import type { z } from 'zod';
import type { runView as runSchema, ScheduleView, schedulesSchema } from '../contract/schedule.js';

import { iso, isoOrNull, keyView } from '../../jobs/routes/view.js';
import type { HttpDeps } from '../../platform/http/deps.js';
import { settleWithin } from '../../platform/http/server/in-time.js';
import type { SeenSchedule } from '../../platform/temporal/schedules.js';
import { mapLimited } from '../../util/map-limited.js';
import type { RunRow } from '../store/runs.js';
import type { ScheduleRow } from '../store/schedules.js';

type Summary = z.output<typeof schedulesSchema>['data'][number];

/** Questions to Temporal at once, and the time that all of them have together. */
const concurrency = 20;
const seeMs = 2_000;

/**
 * What Temporal says of schedules, by their ids; none of those that it does not have as they are,
 * or says nothing of in time.
 */
export async function seeSchedules(
  { scheduler, log }: Pick<HttpDeps, 'scheduler' | 'log'>,
  rows: readonly ScheduleRow[],
): Promise<Map<string, SeenSchedule>> {
  const seen = new Map<string, SeenSchedule>();
  const synced = rows.filter(({ isSynced }) => isSynced);
  const looks = mapLimited(synced, concurrency, async ({ scheduleId }) => {
    const found = await scheduler.see(scheduleId);
    if (found) seen.set(scheduleId, found);
  });
  const settled = looks.catch((err: unknown) => log.warn({ err }, 'Temporal does not say when schedules run'));
  await settleWithin(settled, seeMs);
  return new Map(seen);
}

export function summaryView(row: ScheduleRow, seen: SeenSchedule | undefined): Summary {
  const { spec } = row;
  const { cron = null, every = null } = spec;
  return {
    schedule_id: row.scheduleId,
    name: row.name,
    cron,
    every,
    timezone: cron === null ? null : (spec.timezone ?? 'UTC'),
    max_cost_usd_per_month: spec.max_cost_usd_per_month ?? null,
    spent_this_month_usd: row.spentUsd + row.reservedUsd,
    paused: row.paused,
    paused_in_temporal: !row.paused && (seen?.isPaused ?? false),
    next_run_at: isoOrNull((!row.paused && seen?.nextRunAt) || null),
    tags: spec.tags ?? [],
    metadata: spec.metadata ?? {},
    notes: spec.notes ?? null,
    webhook_origin: spec.webhook_url ? new URL(spec.webhook_url).origin : null,
    created_at: iso(row.createdAt),
    created_by: keyView(row.createdBy),
  };
}

export function scheduleView(row: ScheduleRow, seen: SeenSchedule | undefined, runs: RunRow[]): ScheduleView {
  return { ...summaryView(row, seen), checkup: row.spec.checkup, last_runs: runs.map(runView) };
}

export function runView({ runId, at, manual, status, jobId, code, detail }: RunRow): z.output<typeof runSchema> {
  const outcome = status === 'due' ? null : status;
  return { run_id: runId, scheduled_at: iso(at), manual, outcome, job_id: jobId, code, detail };
}
