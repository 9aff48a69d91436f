import { isTerminal, transition, type Status, type StatusCommand } from '../../../core/jobs/status.js';
import { endEvents } from '../../../core/events/jobs.js';
import type { Tx } from '../../../platform/db/db.js';
import { lockJob, type JobRef } from '../events.js';
import { finishJob } from './record.js';

/** Starts a pending job. Returns the status before. */
export async function startPending(tx: Tx, job: JobRef): Promise<Status> {
  const { status } = await lockJob(tx, job);
  if (status === 'pending') await tx.query(`update jobs set status = 'running' where id = $1`, [job.jobId]);
  return status;
}

/**
 * Applies a command to a pending job. Result: the final status, `refused`, or `started` (the job is
 * not pending any more, its workflow decides).
 */
export async function closePending(
  tx: Tx,
  job: JobRef,
  { command, keyId }: { command: StatusCommand; keyId: string | null },
): Promise<Status | 'refused' | 'started'> {
  const { status, kind } = await lockJob(tx, job);
  const after = transition(status, command);
  if (!after.ok) return 'refused';
  if (status !== 'pending') return isTerminal(status) ? status : 'started';
  if (after.status !== 'cancelled' && after.status !== 'completed') return 'refused';
  const stoppedBy = after.status === 'cancelled' ? 'cancelled' : 'reward_stop';
  await finishJob(tx, job, {
    status: after.status,
    stoppedBy,
    error: null,
    events: endEvents(
      kind,
      { status: after.status },
      { note: 'never started', data: { best_reward: null, stopped_by: stoppedBy } },
    ),
    accepted: [],
    keyId,
  });
  return after.status;
}
