/** The status of an open job, and who changed it. */
import type { NewEvent } from '../../../core/events/event.js';
import type { Tx } from '../../../platform/db/db.js';
import type { JobRef } from '../events.js';

type StatusEvent = NewEvent<'paused'> | NewEvent<'resumed'>;

/** Pauses or resumes a job by a decision, whose events say which command did it. */
export async function setStatus(
  tx: Tx,
  job: JobRef,
  status: 'running' | 'paused',
  { pauses = null, events = [] }: { pauses?: number | null; events?: NewEvent[] },
) {
  const change = events.findLast((event): event is StatusEvent => event.type === 'paused' || event.type === 'resumed');
  await Promise.all([
    tx.query('update jobs set status = $2 where id = $1', [job.jobId, status], 'set_status'),
    tx.query(
      'update job_controls set control = $2, pauses = coalesce($3, pauses) where job_id = $1',
      [job.jobId, status === 'paused' ? 'pause' : 'run', pauses],
      'set_control',
    ),
    // Before its event: the same decision again changes nothing.
    change &&
      tx.query(
        `update job_controls set command = $2, command_key = (select key_id from commands where id = $3), command_at = now()
          where job_id = $1 and not exists (select 1 from events where job_id = $1 and key = $4)`,
        [job.jobId, change.type === 'paused' ? 'pause' : 'resume', change.data.command_id, change.key],
        'set_command',
      ),
    notifyControl(tx, job),
  ]);
}

/** Tells the activities of the job to read its control. */
export function notifyControl(tx: Tx, { jobId }: JobRef) {
  return tx.query(`select pg_notify('ratchet_control', $1)`, [jobId]);
}

/** Records the key that cancelled a job, or that cancelled its parent. */
export function setCanceller(tx: Tx, { jobId }: JobRef, keyId: string | null) {
  return tx.query(
    `update job_controls set command = 'cancel', command_at = now(),
            command_key = coalesce($2, (
              select key_id from commands
               where job_id in ($1, (select parent_id from jobs where id = $1)) and kind = 'cancel' and outcome is null
               order by job_id = $1 desc, created_at limit 1))
      where job_id = $1`,
    [jobId, keyId],
    'set_canceller',
  );
}
