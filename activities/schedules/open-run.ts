import { ScheduleNotFoundError } from '@temporalio/client';
import { insertRun } from '../../src/schedules/store/runs.js';
import { isKnownSchedule, type ScheduleRef } from '../../src/schedules/store/schedules.js';
import type { ActivityDeps } from '../deps.js';

/** `at`: ISO 8601. `scheduledBy`: the schedule's id in Temporal; null: an operator began this. */
export interface ScheduledRun extends ScheduleRef {
  at: string;
  scheduledBy: string | null;
}

export function scheduleActivities({ db, temporal, log }: Pick<ActivityDeps, 'db' | 'temporal' | 'log'>) {
  return {
    /**
     * Adds a run to a schedule, unless it is paused; a repeated call adds no other. Deletes
     * Temporal's schedule of one that is not in the database, as after a restore.
     */
    async openScheduledRun({ orgId, scheduleId, at, scheduledBy }: ScheduledRun): Promise<void> {
      const isKnown = await db.org(orgId, async (tx) => {
        await insertRun(tx, { scheduleId }, { at: new Date(at), manual: false });
        return isKnownSchedule(tx, scheduleId);
      });
      if (isKnown || scheduledBy === null) return;
      log.warn({ schedule_id: scheduleId }, 'a schedule of Temporal is not in the database, and is deleted');
      await temporal.schedule
        .getHandle(scheduledBy)
        .delete()
        .catch((error: unknown) => {
          if (!(error instanceof ScheduleNotFoundError)) throw error;
        });
    },
  };
}
