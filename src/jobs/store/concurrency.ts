import type { Tx } from '../../platform/db/db.js';
import { concurrencyLowered } from '../../core/events/rollouts.js';
import { appendEvents, type JobRef } from './events.js';

/** Limit of rollouts in flight. `reason`: why it is below `max_concurrent`; null: it is not. */
export interface ConcurrencyNow {
  limit: number;
  reason: string | null;
}

/** `lowered`: since the last change. */
export interface LimitChange extends ConcurrencyNow {
  lowered: boolean;
  max: number;
}

/** Limit of events about lowered concurrency, per job. */
const maxEvents = 20;

/** The limit that the job's last runner reached; null: never lowered. */
export async function readLimit(tx: Tx, jobId: string): Promise<ConcurrencyNow | null> {
  const [row] = await tx.query<{ limit: number | null; reason: string | null }>(
    'select concurrency as limit, concurrency_reason as reason from job_controls where job_id = $1',
    [jobId],
    'read_limit',
  );
  return row && row.limit !== null ? { limit: row.limit, reason: row.reason } : null;
}

/** Records the limit, with an event if it was `lowered`. Call it under `lockJob`. */
export async function recordLimit(tx: Tx, job: JobRef, { limit, reason, lowered, max }: LimitChange): Promise<void> {
  const [row] = await tx.query<{ n: number }>(
    `update job_controls set concurrency = $2, concurrency_reason = $3, concurrency_lowered = concurrency_lowered + $4
      where job_id = $1 returning concurrency_lowered as n`,
    [job.jobId, limit, reason, lowered ? 1 : 0],
  );
  if (!lowered || !row || row.n > maxEvents) return;
  await appendEvents(tx, job, [concurrencyLowered(row.n, { limit, max, because: reason })]);
}

/**
 * The lowest ordinals are claimed first, so all claims are among so many open rollouts:
 * max_concurrent, at most 256, those claimed ahead, and those returned, at most as many each.
 */
const mostClaimed = 1_000;

/** A job's concurrency; `limit` null: never lowered. A rollout keeps its slot until its reward. */
export async function readConcurrency(
  tx: Tx,
  jobId: string,
): Promise<{ limit: number | null; reason: string | null; inFlight: number }> {
  const [row] = await tx.query<{ limit: number | null; reason: string | null; inFlight: number }>(
    `select concurrency as limit, concurrency_reason as reason,
            (select count(*) from (select status, started_at from rollouts where job_id = $1 and completed_at is null
                                    order by ordinal limit $2) open
              where status in ('running', 'awaiting_reward') and started_at is not null) as "inFlight"
       from job_controls where job_id = $1`,
    [jobId, mostClaimed],
  );
  return row!;
}
