import { countOutcome, exceedsRate, type OutcomeCounts } from '../../core/jobs/failures.js';
import type { Tx } from '../db/db.js';
import { lockJob, type ControlRow, type JobRef } from '../jobs/events.js';
import { expireAwaiting, reportOutcomes, writeOutcomes, type Outcome, type WrittenOutcome } from './outcomes.js';

/** A rollout that this runner has claimed and must run. */
export interface Claim {
  rolloutId: string;
  attempt: number;
  ordinal: number;
  seed: number;
  candidateId: string | null;
}

/** A runner's report. */
export interface CompletedRollouts {
  outcomes: Outcome[];
  /** Prefetched rollouts that have started. */
  started: string[];
  /** Prefetched rollouts that are returned. */
  returned: string[];
}

/** Number of rollouts to start now (less those that await a reward) and to prefetch. */
export interface WantedSlots {
  slots: number;
  ahead: number;
}

/** `held` false: another runner has the job; nothing was written and nothing may be started. */
export interface SyncResult {
  held: boolean;
  control: ControlRow['control'];
  claims: Claim[];
  awaiting: number;
  /** Counts over all the job's rollouts. */
  counts: OutcomeCounts;
}

/**
 * The runner's only transaction: outcomes in, claims out, lease renewed. Outcomes count only under
 * its lease and attempt, so each rollout has one outcome. Also claims rollouts of a lost runner.
 */
export async function syncRollouts(
  tx: Tx,
  job: JobRef,
  runner: { token: number; leaseSeconds: number; rolloutSeconds: number; maxFailureRate: number },
  { outcomes, started, returned }: CompletedRollouts,
  want: WantedSlots,
): Promise<SyncResult> {
  const row = await lockJob(tx, job);
  const open = row.status === 'running' || row.status === 'paused';
  const held = row.lease_token === runner.token && open;
  let counts: OutcomeCounts = {
    succeeded: row.rollouts_succeeded,
    failed: row.rollouts_failed,
    connectFailuresInARow: row.connect_failures,
  };
  if (!held) return { held, control: open ? row.control : 'stop', claims: [], awaiting: 0, counts };

  const [written, waiting] = await Promise.all([
    writeOutcomes(tx, job, runner.rolloutSeconds, outcomes),
    countAwaiting(tx, job),
  ]);
  const expired = waiting.overdue > 0 ? await expireAwaiting(tx, job) : [];
  const finished = [...written, ...expired];
  for (const { status, error } of finished) {
    counts = countOutcome(counts, status === 'succeeded' ? status : error?.connect ? 'connect_failed' : 'failed');
  }
  if (exceedsRate(counts, runner.maxFailureRate)) counts = { ...counts, distinct: await countDistinct(tx, job) };
  const awaiting = waiting.awaiting - expired.length;
  const now = row.control === 'run' ? Math.max(0, want.slots - awaiting) : 0;
  const ahead = row.control === 'run' ? want.ahead : 0;
  const [, claims] = await Promise.all([
    reportOutcomes(tx, job, row, finished),
    renew(tx, job.jobId, runner, { counts, seen: seenIn(written), started, returned, now, ahead }),
  ]);
  return { held, control: row.control, claims, awaiting, counts };
}

/** Counts the last outcome of each candidate on each seed: another try replaces a failed one. */
async function countDistinct(tx: Tx, job: JobRef): Promise<{ succeeded: number; failed: number }> {
  const [row] = await tx.query<{ succeeded: number; failed: number }>(
    `select count(*) filter (where status = 'succeeded') as succeeded, count(*) filter (where status = 'failed') as failed
       from (select distinct on (candidate_id, seed) status from rollouts
              where job_id = $1 and source = 'service' and status in ('succeeded', 'failed')
              order by candidate_id, seed, ordinal desc) last`,
    [job.jobId],
  );
  return row!;
}

async function countAwaiting(tx: Tx, job: JobRef): Promise<{ awaiting: number; overdue: number }> {
  const [row] = await tx.query<{ awaiting: number; overdue: number }>(
    `select count(*) as awaiting, count(*) filter (where deadline_at < clock_timestamp()) as overdue
       from rollouts
      where job_id = $1 and status = 'awaiting_reward' and deadline_at is not null and completed_at is null`,
    [job.jobId],
  );
  return row!;
}

/** Range of the rewards of succeeded rollouts (null: none), and how many have feedback. */
interface SeenOutcomes {
  low: number | null;
  high: number | null;
  withFeedback: number;
}

function seenIn(written: readonly WrittenOutcome[]): SeenOutcomes {
  const succeeded = written.filter(({ status }) => status === 'succeeded');
  const rewards = succeeded.map(({ reward }) => reward!);
  return {
    low: rewards.length > 0 ? Math.min(...rewards) : null,
    high: rewards.length > 0 ? Math.max(...rewards) : null,
    withFeedback: succeeded.filter(({ hasFeedback }) => hasFeedback).length,
  };
}

/** Renews the lease, updates the counts and claims, in one statement. */
async function renew(
  tx: Tx,
  jobId: string,
  runner: { token: number; leaseSeconds: number },
  how: {
    counts: OutcomeCounts;
    seen: SeenOutcomes;
    started: string[];
    returned: string[];
    now: number;
    ahead: number;
  },
): Promise<Claim[]> {
  const { counts, seen } = how;
  const rows = await tx.query<{
    id: string;
    attempt: number;
    ordinal: number;
    seed: number;
    candidate_id: string | null;
  }>(
    // `materialized`: Postgres may evaluate a subquery again and claim too many.
    `with renewed as (
       update job_controls
          set rollouts_succeeded = $3, rollouts_failed = $4, connect_failures = $5,
              reward_low = least(reward_low, $11), reward_high = greatest(reward_high, $12),
              rollouts_with_feedback = rollouts_with_feedback + $13,
              lease_expires_at = clock_timestamp() + make_interval(secs => $6)
        where job_id = $1 and lease_token = $2
     ), started as (
       update rollouts set started_at = clock_timestamp()
        where job_id = $1 and id = any($7) and status = 'running' and started_at is null
     ), returned as (
       update rollouts set status = 'queued', started_at = case when resent > 0 then started_at end
        where job_id = $1 and id = any($8) and status = 'running' and lease_token = $2
     ), chosen as materialized (
       select id, ordinal from rollouts
        where job_id = $1 and completed_at is null and (status = 'queued' or (status = 'running' and lease_token < $2))
        order by ordinal limit $9::int + $10::int for update
     ), numbered as (
       select id, row_number() over (order by ordinal) as n from chosen
     )
     update rollouts r
        set status = 'running', attempt = r.attempt + 1, lease_token = $2,
            resent = r.resent + case when r.status = 'running' then 1 else 0 end,
            started_at = coalesce(r.started_at, case when numbered.n <= $9 then clock_timestamp() end)
       from numbered where r.id = numbered.id
      returning r.id, r.attempt, r.ordinal, r.seed, r.candidate_id`,
    [
      jobId,
      runner.token,
      counts.succeeded,
      counts.failed,
      counts.connectFailuresInARow,
      runner.leaseSeconds,
      how.started,
      how.returned,
      how.now,
      how.ahead,
      seen.low,
      seen.high,
      seen.withFeedback,
    ],
  );
  return rows
    .sort((a, b) => a.ordinal - b.ordinal)
    .map((r) => ({
      rolloutId: r.id,
      attempt: r.attempt,
      ordinal: r.ordinal,
      seed: r.seed,
      candidateId: r.candidate_id,
    }));
}
