/** What Temporal has of schedules. */
import type { Tx } from '../../platform/db/db.js';
import type { ScheduleTimes } from '../contract/schedule.js';
import type { ScheduleRef } from './schedules.js';

/** A schedule as Temporal is to have it. */
export interface WantedSchedule extends ScheduleTimes {
  name: string;
  paused: boolean;
  version: number;
  createdAt: Date;
  deleted: boolean;
  synced: string | null;
  /** Of Temporal's schedule as it was written. */
  digest: string | null;
}

/** Schedules to write to Temporal, or to compare with it again, of all organizations. */
export async function readUnsynced(
  tx: Tx,
  { installation, checkedBefore, limit }: { installation: string; checkedBefore: Date; limit: number },
): Promise<ScheduleRef[]> {
  return tx.query<ScheduleRef & Record<string, unknown>>(
    'select org_id as "orgId", id as "scheduleId" from unsynced_schedules($1, $2, $3)',
    [installation, checkedBefore, limit],
  );
}

/** null: it is not in the database. */
export async function readWanted(tx: Tx, id: string): Promise<WantedSchedule | null> {
  const [row] = await tx.query<WantedSchedule & Record<string, unknown>>(
    `select name, paused, version, created_at as "createdAt", deleted, synced, digest, spec->>'cron' as cron,
            spec->>'every' as every, spec->>'timezone' as timezone
       from schedules where id = $1`,
    [id],
  );
  return row ?? null;
}

/** The `synced` of a version that Temporal has. */
export const syncedAs = (version: number, installation: string) => `${version} ${installation}`;

/**
 * Notes what Temporal was given. A version in between is written again. Returns whether the
 * schedule is still wanted.
 */
export async function markSynced(
  tx: Tx,
  id: string,
  { version, installation, digest }: { version: number; installation: string; digest: string },
): Promise<boolean> {
  const rows = await tx.query(
    `update schedules set synced = case when version = $2 then $3 end, digest = $4, checked_at = now()
      where id = $1 and not deleted returning 1`,
    [id, version, syncedAs(version, installation), digest],
  );
  return rows.length > 0;
}

/** Deletes a schedule with its runs that Temporal does not have any more. */
export async function forgetSchedule(tx: Tx, id: string): Promise<void> {
  await tx.query('delete from schedules where id = $1 and deleted', [id]);
}
