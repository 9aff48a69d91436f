/** Runs of schedules: when each was due, and what became of it. */
import { v7 as uuid } from 'uuid';
import { jobKinds, type JobKind } from '../../core/jobs/kinds.js';
import type { Tx } from '../../platform/db/db.js';
import { addSpend, type ScheduleRef } from './schedules.js';
import { readFamilyCost } from '../../jobs/store/parents.js';

/** Runs that a schedule keeps, besides those that are open. */
const kept = 100;

export type RunStatus = 'due' | 'started' | 'skipped' | 'refused';

export interface RunRow extends Record<string, unknown> {
  runId: string;
  scheduleId: string;
  at: Date;
  manual: boolean;
  status: RunStatus;
  code: string | null;
  detail: string | null;
  jobId: string | null;
}

const columns = `id as "runId", schedule_id as "scheduleId", at, manual, status, code, detail, job_id as "jobId"`;

/** The id of the job of a run: another try stores no second one. */
export const jobIdOf = (runId: string, kind: JobKind): string => jobKinds[kind].prefix + runId.slice(4);

/**
 * Adds a run that is due, once for each time of a schedule that is not paused. A manual one is
 * added always. Returns it; null: there is nothing to do.
 */
export async function insertRun(
  tx: Tx,
  { scheduleId }: Pick<ScheduleRef, 'scheduleId'>,
  { at, manual }: Pick<RunRow, 'at' | 'manual'>,
): Promise<RunRow | null> {
  const [row] = await tx.query<RunRow>(
    `insert into schedule_runs (id, schedule_id, org_id, at, manual)
     select $2, s.id, s.org_id, $3, $4 from schedules s
      where s.id = $1 and not s.deleted and ($4 or not s.paused)
     on conflict do nothing returning ${columns}`,
    [scheduleId, `run_${uuid().replaceAll('-', '')}`, at, manual],
  );
  if (!row) return null;
  await tx.query(
    `delete from schedule_runs where id in (
       select id from schedule_runs where schedule_id = $1
        order by at desc, id desc offset $2)
      and (status in ('skipped', 'refused') or spent_usd is not null)`,
    [scheduleId, kept],
  );
  return row;
}

/** The latest runs, the newest first. */
export async function listRuns(tx: Tx, scheduleId: string, limit: number): Promise<RunRow[]> {
  return tx.query<RunRow>(
    `select ${columns} from schedule_runs where schedule_id = $1 order by at desc, id desc limit $2`,
    [scheduleId, limit],
  );
}

/** A run whose job is to be made, or has ended. */
export interface OpenRun extends ScheduleRef, Record<string, unknown> {
  runId: string;
  status: 'due' | 'started';
}

/** Of all organizations. */
export async function readOpenRuns(tx: Tx, limit: number): Promise<OpenRun[]> {
  return tx.query<OpenRun>(
    'select org_id as "orgId", id as "runId", schedule_id as "scheduleId", status from open_schedule_runs($1)',
    [limit],
  );
}

/** Takes a due run for `seconds`; null: another process has it, or it is due no more. */
export async function leaseRun(tx: Tx, runId: string, seconds: number): Promise<RunRow | null> {
  const [row] = await tx.query<RunRow>(
    `update schedule_runs set leased_until = now() + make_interval(secs => $2)
      where id = (select id from schedule_runs where id = $1 and status = 'due'
                     and (leased_until is null or leased_until < now()) for update skip locked)
     returning ${columns}`,
    [runId, seconds],
  );
  return row ?? null;
}

/** Gives a due run back, so that it is tried again at once. */
export async function releaseRun(tx: Tx, runId: string): Promise<void> {
  await tx.query('update schedule_runs set leased_until = null where id = $1', [runId]);
}

/** Removes a due run that nobody is told of. */
export async function dropRun(tx: Tx, runId: string): Promise<void> {
  await tx.query(`delete from schedule_runs where id = $1 and status = 'due'`, [runId]);
}

/** Whether a run is due, under the lock of its schedule. */
export async function isDue(tx: Tx, runId: string): Promise<boolean> {
  return (await tx.query(`select 1 from schedule_runs where id = $1 and status = 'due'`, [runId])).length > 0;
}

/** Notes the job of a run, whose dollars count for the month of now. */
export async function markStarted(
  tx: Tx,
  runId: string,
  { jobId, budgetUsd }: { jobId: string; budgetUsd: number | null },
): Promise<void> {
  await tx.query(
    `update schedule_runs set status = 'started', leased_until = null, job_id = $2, budget_usd = $3,
            month = date_trunc('month', now() at time zone 'utc')::date where id = $1`,
    [runId, jobId, budgetUsd],
  );
}

/** Notes why a due run has no job. */
export async function markEnded(
  tx: Tx,
  runId: string,
  { status, code, detail }: { status: 'skipped' | 'refused'; code: string; detail: string },
): Promise<void> {
  await tx.query(
    `update schedule_runs set status = $2, leased_until = null, code = $3, detail = $4 where id = $1 and status = 'due'`,
    [runId, status, code, detail],
  );
}

/** Whether a run of this UTC month was skipped with a code. */
export async function wasToldThisMonth(tx: Tx, scheduleId: string, code: string): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from schedule_runs where schedule_id = $1 and code = $2
        and at >= date_trunc('month', now() at time zone 'utc') at time zone 'utc' limit 1`,
    [scheduleId, code],
  );
  return rows.length > 0;
}

/** Whether the job of a run is open, under the lock of its schedule. */
export async function hasOpenRun(tx: Tx, scheduleId: string): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from schedule_runs where schedule_id = $1 and status = 'started' and spent_usd is null limit 1`,
    [scheduleId],
  );
  return rows.length > 0;
}

/** Counts what the ended jobs of a schedule have cost, under its lock. */
export async function settleRuns(tx: Tx, scheduleId: string): Promise<void> {
  const open = await tx.query<{ runId: string; jobId: string; month: string; budgetUsd: number | null }>(
    `select id as "runId", job_id as "jobId", month::text, budget_usd as "budgetUsd" from schedule_runs
      where schedule_id = $1 and status = 'started' and spent_usd is null`,
    [scheduleId],
  );
  for (const { runId, jobId, month, budgetUsd } of open) {
    const family = await readFamilyCost(tx, jobId);
    if (family.isOpen) continue;
    const { knownUsd, isKnown } = family;
    const usd = isKnown ? knownUsd : Math.max(knownUsd, budgetUsd ?? 0);
    await tx.query('update schedule_runs set spent_usd = $2 where id = $1', [runId, usd]);
    await addSpend(tx, scheduleId, { month, usd });
  }
}
