import { countOutcome, type OutcomeCounts } from '../core/failures.js';
import type { Tx } from './db.js';
import { lockJob, type ControlRow, type JobRef } from './events.js';
import { expireAwaiting, reportOutcomes, writeOutcomes, type Outcome } from './outcomes.js';

/** A rollout that this runner has claimed and must now run. */
export interface Claim {
  rolloutId: string;
  attempt: number;
  ordinal: number;
  seed: number;
  candidateId: string | null;
}

/** What an exchange found. `held` false: another runner has the job, so nothing was written and nothing may be started. */
export interface Exchange {
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
 * its event stand or fall together. Claims at most as many rollouts as there are
 * `slots` less those that wait for their reward, and none unless the job's control says `run`.
 * Rows that an earlier runner left in flight are claimed again, with the same id.
 */
export async function exchange(
  tx: Tx,
  job: JobRef,
  runner: { token: number; leaseSeconds: number; rolloutSeconds: number },
  outcomes: Outcome[],
  slots: number,
): Promise<Exchange> {
  const row = await lockJob(tx, job);
  const open = row.status === 'running' || row.status === 'paused';
  const held = row.lease_token === runner.token && open;
  let counts: OutcomeCounts = {
    succeeded: row.rollouts_succeeded,
    failed: row.rollouts_failed,
    connectFailuresInARow: row.connect_failures,
  };
  if (!held) return { held, control: open ? row.control : 'stop', claims: [], awaiting: 0, counts };

  const written = [
    ...(outcomes.length > 0 ? await writeOutcomes(tx, job, outcomes) : []),
    ...(await expireAwaiting(tx, job)),
  ];
  for (const { status, error } of written) {
    counts = countOutcome(counts, status === 'succeeded' ? status : error?.connect ? 'connect_failed' : 'failed');
  }
  await reportOutcomes(tx, job, row, written);
  const [waiting] = await tx.query<{ n: number }>(
    `select count(*) as n from rollouts where job_id = $1 and status = 'awaiting_reward'`,
    [job.jobId],
  );
  const awaiting = waiting?.n ?? 0;
  const want = row.control === 'run' ? slots - awaiting : 0;
  const claims = want > 0 ? await claim(tx, job.jobId, runner, want) : [];
  await tx.query(
    `update job_controls set rollouts_succeeded = $3, rollouts_failed = $4, connect_failures = $5,
            lease_expires_at = clock_timestamp() + make_interval(secs => $6)
      where job_id = $1 and lease_token = $2`,
    [job.jobId, runner.token, counts.succeeded, counts.failed, counts.connectFailuresInARow, runner.leaseSeconds],
  );
  return { held, control: row.control, claims, awaiting, counts };
}

async function claim(
  tx: Tx,
  jobId: string,
  runner: { token: number; rolloutSeconds: number },
  want: number,
): Promise<Claim[]> {
  const rows = await tx.query<{
    id: string;
    attempt: number;
    ordinal: number;
    seed: number;
    candidate_id: string | null;
  }>(
    // The choice is a step of its own: as a subquery Postgres may run it again and claim more than was wanted.
    `with chosen as materialized (
       select id from rollouts
        where job_id = $1 and (status = 'queued' or (status = 'running' and lease_token < $2))
        order by ordinal limit $4 for update
     )
     update rollouts r
        set status = 'running', attempt = r.attempt + 1, lease_token = $2,
            resent = r.resent + case when r.status = 'running' then 1 else 0 end,
            started_at = coalesce(r.started_at, clock_timestamp()),
            deadline_at = clock_timestamp() + make_interval(secs => $3)
       from chosen where r.id = chosen.id
      returning r.id, r.attempt, r.ordinal, r.seed, r.candidate_id`,
    [jobId, runner.token, runner.rolloutSeconds, want],
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
