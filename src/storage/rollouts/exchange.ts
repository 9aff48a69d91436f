import { countOutcome, type OutcomeCounts } from '../../core/jobs/failures.js';
import type { Tx } from '../db/db.js';
import { lockJob, type ControlRow, type JobRef } from '../jobs/events.js';
import { expireAwaiting, reportOutcomes, writeOutcomes, type Outcome } from './outcomes.js';

/** A rollout that this runner has claimed and must now run. */
export interface Claim {
  rolloutId: string;
  attempt: number;
  ordinal: number;
  seed: number;
  candidateId: string | null;
}

/** What a runner tells. */
export interface CompletedRollouts {
  outcomes: Outcome[];
  /** Rollouts claimed ahead that have begun since. */
  begun: string[];
  /** Rollouts claimed ahead that have not begun and are given back. */
  returned: string[];
}

/** How many rollouts a runner wants: to begin at once, of which those that wait for their reward take away, and ahead. */
export interface WantedSlots {
  slots: number;
  ahead: number;
}

/** What an exchange found. `held` false: another runner has the job, so nothing was written and nothing may be started. */
export interface SyncResult {
  held: boolean;
  control: ControlRow['control'];
  claims: Claim[];
  awaiting: number;
  /** Of all the job's rollouts so far. */
  counts: OutcomeCounts;
}

/**
 * The runner's one transaction: outcomes in, claims out, lease renewed. Outcomes count only while the runner holds the
 * lease and the row's attempt is its own, so each rollout has one outcome whoever else is still at it; each outcome and
 * its event stand or fall together. Claims nothing unless the job's control says `run`.
 * Rows that an earlier runner left in flight are claimed again, with the same id.
 */
export async function syncRollouts(
  tx: Tx,
  job: JobRef,
  runner: { token: number; leaseSeconds: number; rolloutSeconds: number },
  { outcomes, begun, returned }: CompletedRollouts,
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
  const ended = [...written, ...expired];
  for (const { status, error } of ended) {
    counts = countOutcome(counts, status === 'succeeded' ? status : error?.connect ? 'connect_failed' : 'failed');
  }
  const awaiting = waiting.awaiting - expired.length;
  const now = row.control === 'run' ? Math.max(0, want.slots - awaiting) : 0;
  const ahead = row.control === 'run' ? want.ahead : 0;
  const [, claims] = await Promise.all([
    reportOutcomes(tx, job, row, ended),
    renew(tx, job.jobId, runner, { counts, begun, returned, now, ahead }),
  ]);
  return { held, control: row.control, claims, awaiting, counts };
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

/** Renews the lease, with the counts, and claims: one statement, for this is what each exchange does. */
async function renew(
  tx: Tx,
  jobId: string,
  runner: { token: number; leaseSeconds: number },
  how: { counts: OutcomeCounts; begun: string[]; returned: string[]; now: number; ahead: number },
): Promise<Claim[]> {
  const { counts } = how;
  const rows = await tx.query<{
    id: string;
    attempt: number;
    ordinal: number;
    seed: number;
    candidate_id: string | null;
  }>(
    // The choice is a step of its own: as a subquery Postgres may run it again and claim more than was wanted.
    `with renewed as (
       update job_controls
          set rollouts_succeeded = $3, rollouts_failed = $4, connect_failures = $5,
              lease_expires_at = clock_timestamp() + make_interval(secs => $6)
        where job_id = $1 and lease_token = $2
     ), begun as (
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
      how.begun,
      how.returned,
      how.now,
      how.ahead,
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
