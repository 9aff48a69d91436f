/** Temporal's schedules, which follow the rows of the database. */
import { createHash } from 'node:crypto';
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleDescription,
  type ScheduleHandle,
} from '@temporalio/client';
import type { Logger } from 'pino';
import { nameAttribute, orgAttribute, type ScheduledRunInput } from '../../../workflows/messages.js';
import {
  forgetSchedule,
  markSynced,
  readUnsynced,
  readWanted,
  syncedAs,
  type WantedSchedule,
} from '../../schedules/store/synced.js';
import type { ScheduleRef } from '../../schedules/store/schedules.js';
import { durationMs } from '../../util/duration.js';
import type { Db } from '../db/db.js';
import type { Installation, InstallationClient } from './installation-client.js';

/** What Temporal knows of a schedule. */
export interface SeenSchedule {
  isPaused: boolean;
  /** null: there is none. */
  nextRunAt: Date | null;
}

export interface Scheduler {
  /** Gives Temporal what the row of a schedule says, or deletes it there, and then its row. */
  sync(schedule: ScheduleRef): Promise<void>;
  /** null: Temporal does not have it. */
  see(scheduleId: string): Promise<SeenSchedule | null>;
}

const deadlineMs = 5_000;
const seeDeadlineMs = 2_000;
const batch = 200;
/** How often a schedule is compared with what an operator may have changed in Temporal. */
const compareMs = 600_000;
/** A run that no server could begin in its time begins within this time. */
const catchupWindow = '1 hour';
/** The note of a schedule that its user has paused. An operator's pause has another one. */
const pausedByUser = 'Paused in Ratchet: PATCH the schedule with "paused": false.';

export function createScheduler(client: InstallationClient, db: Db): Scheduler {
  return {
    sync: (schedule) => client.withDeadline(Date.now() + deadlineMs, () => sync(client, db, schedule)),
    async see(scheduleId) {
      const handle = handleOf(client, scheduleId);
      const found = await client.withDeadline(Date.now() + seeDeadlineMs, () => describe(handle));
      if (!found) return null;
      const { paused } = found.state;
      return { isPaused: paused, nextRunAt: paused ? null : (found.info.nextActionTimes[0] ?? null) };
    },
  };
}

/**
 * Writes schedules that Temporal lacks or has otherwise, and compares each one every ten minutes.
 */
export async function syncSchedules(
  { client, db, log }: { client: InstallationClient; db: Db; log: Logger },
  stopping: AbortSignal,
): Promise<void> {
  const installation = nameOf(client.installation);
  const checkedBefore = new Date(Date.now() - compareMs);
  const unsynced = await db.worker((tx) => readUnsynced(tx, { installation, checkedBefore, limit: batch }));
  const { sync } = createScheduler(client, db);
  for (const schedule of unsynced) {
    if (stopping.aborted) return;
    await sync(schedule).catch((err: Error) =>
      log.warn(
        { err, schedule_id: schedule.scheduleId },
        'schedule not written to Temporal; retrying at the next sweep',
      ),
    );
  }
}

const nameOf = ({ id, taskQueue }: Installation) => `${id} ${taskQueue}`;

/** A cluster may have several installations, and a copy of a database has the ids of the first. */
const handleOf = (client: InstallationClient, scheduleId: string): ScheduleHandle =>
  client.schedule.getHandle(`schedule-${scheduleId}-${client.installation.id}`);

async function sync(client: InstallationClient, db: Db, { orgId, scheduleId }: ScheduleRef): Promise<void> {
  const handle = handleOf(client, scheduleId);
  const wanted = await db.org(orgId, (tx) => readWanted(tx, scheduleId));
  if (wanted && !wanted.deleted) {
    const installation = nameOf(client.installation);
    const digest = await write(client, handle, wanted, { orgId, scheduleId });
    const written = { version: wanted.version, installation, digest };
    if (await db.org(orgId, (tx) => markSynced(tx, scheduleId, written))) return;
  }
  await remove(handle);
  await db.org(orgId, (tx) => forgetSchedule(tx, scheduleId));
}

async function remove(handle: ScheduleHandle): Promise<void> {
  await handle.delete().catch((error: unknown) => {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  });
}

async function describe(handle: ScheduleHandle): Promise<ScheduleDescription | null> {
  return handle.describe().catch((error: unknown) => {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  });
}

/** Creates or updates a schedule, if it is not as wanted; returns its digest. */
async function write(
  client: InstallationClient,
  handle: ScheduleHandle,
  wanted: WantedSchedule,
  ref: ScheduleRef,
): Promise<string> {
  const options = optionsOf(client, handle, wanted, ref);
  const found = await describe(handle);
  const isSynced = wanted.synced === syncedAs(wanted.version, nameOf(client.installation));
  if (found && isSynced && digestOf(found) === wanted.digest && stateOf(found, wanted) === null) return wanted.digest;
  if (!found) {
    const state = wanted.paused ? { paused: true, note: pausedByUser } : {};
    try {
      await client.schedule.create({ ...options, state });
    } catch (error) {
      // Another process has created it.
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
  } else {
    await handle.update((now) => ({ ...options, state: { ...now.state, ...stateOf(now, wanted) } }));
  }
  return digestOf(await handle.describe());
}

/** What is to change of the pause; an operator's stays. null: nothing. */
function stateOf({ state }: ScheduleDescription, { paused }: WantedSchedule): { paused: boolean; note: string } | null {
  const isOfUser = state.paused && state.note === pausedByUser;
  if (paused && !state.paused) return { paused: true, note: pausedByUser };
  if (!paused && isOfUser) return { paused: false, note: '' };
  return null;
}

function optionsOf(
  { installation }: InstallationClient,
  { scheduleId }: ScheduleHandle,
  { name, ...times }: WantedSchedule,
  { orgId, scheduleId: id }: ScheduleRef,
) {
  const input: ScheduledRunInput = { orgId, scheduleId: id };
  const typedSearchAttributes = [
    { key: orgAttribute, value: orgId },
    { key: nameAttribute, value: name },
  ];
  return {
    scheduleId,
    spec: specOf(times),
    action: {
      type: 'startWorkflow' as const,
      workflowType: 'scheduledRunWorkflow',
      workflowId: scheduleId,
      taskQueue: installation.taskQueue,
      args: [input],
      staticSummary: `run of ${id}`,
      typedSearchAttributes,
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow },
    typedSearchAttributes,
  };
}

/** An interval begins at the create, so that not all of the same length come due together. */
function specOf({ cron, every, timezone, createdAt }: Omit<WantedSchedule, 'name'>) {
  if (cron) return { cronExpressions: [cron], ...(timezone && { timezone }) };
  const everyMs = durationMs(every!);
  return { intervals: [{ every: everyMs, offset: createdAt.getTime() % everyMs }] };
}

/** Of what an operator may change besides a pause. */
function digestOf({ spec, action, policies }: ScheduleDescription): string {
  const { workflowType, workflowId, taskQueue, args } = action;
  return createHash('sha256')
    .update(JSON.stringify([spec, workflowType, workflowId, taskQueue, args, policies]))
    .digest('hex');
}
