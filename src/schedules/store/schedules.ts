/** Rows of schedules. What Temporal has of them follows; see `platform/temporal/schedules`. */
import { v7 as uuid } from 'uuid';
import { positionColumn, type Position } from '../../platform/db/positions.js';
import { keyOf, type NamedKey } from '../../jobs/store/named-keys.js';
import type { Tx } from '../../platform/db/db.js';
import { toJsonb } from '../../platform/db/json.js';
import type { ScheduleSpec } from '../contract/schedule.js';

export interface ScheduleRef {
  orgId: string;
  scheduleId: string;
}

export interface ScheduleRow extends ScheduleRef, Record<string, unknown> {
  /** Of deployments. */
  name: string;
  spec: ScheduleSpec;
  paused: boolean;
  keyId: string | null;
  createdBy: NamedKey;
  version: number;
  /** Whether Temporal has this version. */
  isSynced: boolean;
  createdAt: Date;
  /** Dollars of the ended runs that began in this UTC month, and those that open ones may cost. */
  spentUsd: number;
  reservedUsd: number;
}

const thisMonth = `date_trunc('month', now() at time zone 'utc')::date`;

const columns = `s.id as "scheduleId", s.org_id as "orgId", s.name, s.spec, s.paused, s.key_id as "keyId",
  ${keyOf('s.key_id')} as "createdBy", s.version, coalesce(s.synced like s.version || ' %', false) as "isSynced", s.created_at as "createdAt",
  case when s.month = ${thisMonth} then s.month_usd else 0 end as "spentUsd",
  coalesce((select sum(r.budget_usd) from schedule_runs r
             where r.schedule_id = s.id and r.status = 'started' and r.spent_usd is null and r.month = ${thisMonth}), 0)
    as "reservedUsd"`;

/** Stores a schedule; returns its id. */
export async function insertSchedule(
  tx: Tx,
  { name, spec, paused, keyId }: Pick<ScheduleRow, 'name' | 'spec' | 'paused' | 'keyId'>,
): Promise<string> {
  const id = `sch_${uuid().replaceAll('-', '')}`;
  await tx.query(
    `insert into schedules (id, org_id, name, spec, paused, key_id) values ($1, current_setting('app.org'), $2, $3, $4, $5)`,
    [id, name, toJsonb(spec), paused, keyId],
  );
  return id;
}

/** A schedule of the organization; null: none, or a deleted one. */
export async function readSchedule(tx: Tx, id: string): Promise<ScheduleRow | null> {
  const [row] = await tx.query<ScheduleRow>(`select ${columns} from schedules s where s.id = $1 and not s.deleted`, [
    id,
  ]);
  return row ?? null;
}

/** Locks a schedule, so that one run of it begins at a time; null: none, or a deleted one. */
export async function lockSchedule(tx: Tx, id: string): Promise<ScheduleRow | null> {
  const locked = await tx.query('select 1 from schedules where id = $1 and not deleted for no key update', [id]);
  return locked.length > 0 ? readSchedule(tx, id) : null;
}

/** Whether a schedule has a row, also one that is being deleted. */
export async function isKnownSchedule(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query('select 1 from schedules where id = $1', [id])).length > 0;
}

export async function countSchedules(tx: Tx, name: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `select count(*)::int as count from schedules where org_id = current_setting('app.org') and name = $1 and not deleted`,
    [name],
  );
  return row!.count;
}

/** A page of schedules, newest first; `name` null: of all names. */
export async function listSchedules(
  tx: Tx,
  { name, after, limit }: { name: string | null; after: Position | undefined; limit: number },
): Promise<(ScheduleRow & { position: string })[]> {
  return tx.query<ScheduleRow & { position: string }>(
    `select ${columns}, ${positionColumn.replace('created_at', 's.created_at')} from schedules s
      where s.org_id = current_setting('app.org') and not s.deleted ${name === null ? '' : 'and s.name = $4'}
        and ($1::timestamptz is null or (s.created_at, s.id) < ($1, $2))
      order by s.created_at desc, s.id desc limit $3`,
    [after?.createdAt ?? null, after?.id ?? null, limit, ...(name === null ? [] : [name])],
  );
}

/** Changes a schedule that is locked. */
export async function updateSchedule(
  tx: Tx,
  id: string,
  { spec, paused }: Pick<ScheduleRow, 'spec' | 'paused'>,
): Promise<void> {
  await tx.query('update schedules set spec = $2, paused = $3, version = version + 1 where id = $1', [
    id,
    toJsonb(spec),
    paused,
  ]);
}

/** Ends a schedule. Its row goes once Temporal has none. Returns whether this call did it. */
export async function deleteSchedule(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.query('update schedules set deleted = true where id = $1 and not deleted returning 1', [id]);
  return rows.length > 0;
}

/** Ends the schedules of a name that has no deployment any more. */
export async function endSchedules(tx: Tx, name: string): Promise<void> {
  await tx.query(
    `update schedules set deleted = true
      where org_id = current_setting('app.org') and name = $1 and not deleted
        and not exists (select from deployments d join jobs j on j.id = d.id
                         where d.org_id = current_setting('app.org') and d.name = $1 and d.deleted_at is null
                           and j.status in ('pending', 'running', 'paused', 'completed'))`,
    [name],
  );
}

/** Counts what an ended run has cost, if it began in the month that is counted, or a later one. */
export async function addSpend(tx: Tx, id: string, { month, usd }: { month: string; usd: number }): Promise<void> {
  await tx.query(
    `update schedules set month_usd = case when month = $2::date then month_usd else 0 end + $3, month = $2::date
      where id = $1 and month <= $2::date`,
    [id, month, usd],
  );
}
