/**
 * The budget of a job with `max_cost_usd`. Invariant: spent + reserved <= max. A call is sent only
 * after its reservation is committed; an unknown cost counts in full.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isTerminal } from '../../core/jobs/status.js';
import type { Db, Tx } from '../../platform/db/db.js';
import { costBudgetWarning } from '../../core/events/search.js';
import { appendEvents, lockJob, type JobRef } from './events.js';
import { presenceLock } from '../../platform/db/notifications.js';
import { retryTransient, type Patience } from '../../platform/db/patience.js';
import { isUniqueViolation } from '../../platform/db/postgres-errors.js';

/** A call to reserve for. `rolloutId` null: the proposer's. `presence`: the sending process. */
export interface CostReservation {
  id: string;
  rolloutId: string | null;
  costUsd: number;
  presence: number;
}

/** `busy`: calls in flight may release budget. `refused`: the budget is closed. */
export type ReservationResult = 'reserved' | 'busy' | 'refused';

/** A budget's state, in dollars. */
export interface CostBudget {
  maxUsd: number;
  spentUsd: number;
  reservedUsd: number;
}

/** No call of a live process lasts longer: an older reservation was lost. */
const maxCallDuration = '25 minutes';
const busyMs = 100;

/** Creates the budget of a job. */
export async function openCostBudget(tx: Tx, job: JobRef, maxUsd: number): Promise<void> {
  await tx.query('insert into job_budgets (job_id, org_id, max_usd) values ($1, $2, $3)', [
    job.jobId,
    job.orgId,
    maxUsd,
  ]);
}

/** Opens a budget again that a closed job may have spent; null: the job has none. */
export async function raiseCostBudget(tx: Tx, { jobId }: JobRef, maxUsd: number | null): Promise<void> {
  if (maxUsd === null) return;
  await tx.query('update job_budgets set max_usd = $2, exhausted_at = null, warned_at = null where job_id = $1', [
    jobId,
    maxUsd,
  ]);
}

/** Reserves the upper bound of a call's cost. */
export async function reserveCost(tx: Tx, job: JobRef, call: CostReservation): Promise<ReservationResult> {
  const fits = await tx.query(
    `with fits as (
       update job_budgets set reserved_usd = reserved_usd + $4::numeric
        where job_id = $1 and exhausted_at is null and spent_usd + reserved_usd + $4::numeric <= max_usd
       returning org_id
     )
     insert into cost_reservations (id, job_id, org_id, rollout_id, amount_usd, presence)
     select $2, $1, org_id, $3, $4::numeric, $5 from fits returning id`,
    [job.jobId, call.id, call.rolloutId, call.costUsd, call.presence],
    'reserve_cost',
  );
  if (fits.length > 0) return 'reserved';
  if (!(await isRefused(tx, job, call.costUsd))) {
    await settleLost(tx, job);
    if (!(await isRefused(tx, job, call.costUsd))) return 'busy';
  }
  await tx.query(
    `with closed as (
       update job_budgets set exhausted_at = coalesce(exhausted_at, clock_timestamp()) where job_id = $1
     )
     insert into cost_reservations (id, job_id, org_id, rollout_id, amount_usd, presence, refused)
     values ($2, $1, $3, $4, 0, $5, true) on conflict (id) do nothing`,
    [job.jobId, call.id, job.orgId, call.rolloutId, call.presence],
  );
  await tx.query(`select pg_notify('ratchet_control', $1)`, [job.jobId]);
  return 'refused';
}

/** Whether a call does not fit even without the calls in flight, or the budget is closed. */
async function isRefused(tx: Tx, job: JobRef, costUsd: number): Promise<boolean> {
  const [left] = await tx.query<{ refused: boolean }>(
    // Lock the row first: the following sums must be current.
    `update job_budgets set reserved_usd = reserved_usd where job_id = $1
      returning exhausted_at is not null or spent_usd + $2::numeric > max_usd as refused`,
    [job.jobId, costUsd],
  );
  if (!left) throw new Error(`Job "${job.jobId}" has no budget row.`);
  return left.refused;
}

/** Counts reservations of dead processes as spent in full: the provider may have answered. */
export async function settleLost(tx: Tx, job: JobRef): Promise<void> {
  await tx.query(
    `with lost as (
       delete from cost_reservations r
        where job_id = $1 and not refused
          and (created_at < clock_timestamp() - $2::interval
               or not exists (select 1 from pg_locks
                               where locktype = 'advisory' and classid = $3 and objid = r.presence::oid and objsubid = 2))
       returning amount_usd
     ), summed as (
       select sum(amount_usd) as amount from lost having count(*) > 0
     )
     update job_budgets set reserved_usd = reserved_usd - amount, spent_usd = spent_usd + amount
       from summed where job_id = $1`,
    [job.jobId, maxCallDuration, presenceLock],
  );
}

/**
 * Reserves; waits while calls in flight block it, and retries with `patience` when the database is
 * down. Rejects with the signal's reason.
 */
export async function reserveWhenPossible(
  db: Db,
  job: JobRef,
  call: CostReservation,
  signal: AbortSignal,
  patience: Patience = { patienceMs: 0, onRetry: () => undefined },
): Promise<'reserved' | 'refused'> {
  for (;;) {
    signal.throwIfAborted();
    const found = await retryTransient(() => reserveOnce(db, job, call), patience);
    if (found !== 'busy') return found;
    await delay(busyMs);
  }
}

/** Reserves; a repeated reservation whose answer was lost has no effect. */
async function reserveOnce(db: Db, job: JobRef, call: CostReservation): Promise<ReservationResult> {
  try {
    return await db.org(job.orgId, (tx) => reserveCost(tx, job, call));
  } catch (error) {
    if (isUniqueViolation(error)) return 'reserved';
    throw error;
  }
}

/** Replaces a reservation by the cost of the call; null: unknown. Idempotent. */
export async function settleCost(tx: Tx, job: JobRef, id: string, costUsd: number | null): Promise<void> {
  const [settled] = await tx.query<{ warn: boolean | null; spent: number; max: number }>(
    `with gone as (
       delete from cost_reservations where id = $2 and job_id = $1 and not refused returning amount_usd
     )
     update job_budgets b
        set reserved_usd = reserved_usd - amount_usd, spent_usd = spent_usd + coalesce($3::numeric, amount_usd),
            warned_at = coalesce(warned_at, case when spent_usd + coalesce($3::numeric, amount_usd) >= 0.8 * max_usd then now() end)
       from gone where b.job_id = $1
     returning warned_at = now() as warn, spent_usd::float8 as spent, max_usd::float8 as max`,
    [job.jobId, id, costUsd],
    'settle_cost',
  );
  if (settled?.warn) await warn(tx, job, settled);
}

async function warn(tx: Tx, job: JobRef, { spent, max }: { spent: number; max: number }): Promise<void> {
  const { status } = await lockJob(tx, job);
  if (isTerminal(status)) return;
  await appendEvents(tx, job, [costBudgetWarning(spent, max)]);
}

/** Dollars that jobs have spent of their budgets, and reserved. */
export async function readSpent(tx: Tx, jobIds: readonly string[]): Promise<number> {
  const [row] = await tx.query<{ spent: number }>(
    'select coalesce(sum(spent_usd + reserved_usd), 0)::float8 as spent from job_budgets where job_id = any($1)',
    [jobIds],
  );
  return row!.spent;
}

/** A job's budget, or null. */
export async function readCostBudget(tx: Tx, jobId: string): Promise<CostBudget | null> {
  const [row] = await tx.query<{ maxUsd: number; spentUsd: number; reservedUsd: number }>(
    `select max_usd::float8 as "maxUsd", spent_usd::float8 as "spentUsd", reserved_usd::float8 as "reservedUsd"
       from job_budgets where job_id = $1`,
    [jobId],
  );
  return row ?? null;
}

/**
 * Notes that a quota of spend refused a rollout's call: its outcome does not count, and the runner
 * ends the job's run.
 */
export async function refuseByQuota(
  tx: Tx,
  job: JobRef,
  { id, rolloutId, presence }: Omit<CostReservation, 'costUsd'>,
): Promise<void> {
  await tx.query(
    `with marked as (
       update job_controls set quota_refused = true where job_id = $1
     )
     insert into cost_reservations (id, job_id, org_id, rollout_id, amount_usd, presence, refused)
     values ($2, $1, $3, $4, 0, $5, true) on conflict (id) do nothing`,
    [job.jobId, id, job.orgId, rolloutId, presence],
  );
  await tx.query(`select pg_notify('ratchet_control', $1)`, [job.jobId]);
}

/** Opens a job again whose run a quota of spend has ended. */
export async function clearRefusals(tx: Tx, { jobId }: JobRef): Promise<void> {
  await tx.query('delete from cost_reservations where job_id = $1 and refused', [jobId]);
  await tx.query('update job_controls set quota_refused = false where job_id = $1', [jobId]);
}

/** By job: the rollouts whose calls a quota of spend refused. */
export async function readQuotaRefused(tx: Tx, jobIds: readonly string[]): Promise<Map<string, Set<string>>> {
  if (jobIds.length === 0) return new Map();
  const rows = await tx.query<{ jobId: string; rollouts: string[] }>(
    `select job_id as "jobId", array_agg(rollout_id) as rollouts from cost_reservations
      where job_id = any($1) and refused and rollout_id is not null group by job_id`,
    [jobIds],
    'read_quota_refused',
  );
  return new Map(rows.map(({ jobId, rollouts }) => [jobId, new Set(rollouts)]));
}

/** By job: the rollouts with a refused call. A job whose budget is open has no entry. */
export async function readRefused(tx: Tx, jobIds: readonly string[]): Promise<Map<string, Set<string>>> {
  const refused = new Map<string, Set<string>>();
  if (jobIds.length === 0) return refused;
  const rows = await tx.query<{ job_id: string; rollout_id: string | null }>(
    `select b.job_id, r.rollout_id
       from job_budgets b left join cost_reservations r on r.job_id = b.job_id and r.refused
      where b.job_id = any($1) and b.exhausted_at is not null`,
    [jobIds],
    'read_refused',
  );
  for (const { job_id: jobId, rollout_id: id } of rows) {
    const of = refused.get(jobId) ?? new Set();
    refused.set(jobId, of);
    if (id !== null) of.add(id);
  }
  return refused;
}
