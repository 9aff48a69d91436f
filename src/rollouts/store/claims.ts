import type { EmptyCounts } from '../../core/answers/empty-answers.js';
import type { OutcomeCounts } from '../../core/jobs/failures.js';
import type { Tx } from '../../platform/db/db.js';
import { countedPace } from './outcome-counts.js';

/** A rollout that this runner has claimed and must run. */
export interface Claim {
  rolloutId: string;
  attempt: number;
  ordinal: number;
  seed: number;
  candidateId: string | null;
}

/** A renewed lease, the job's new counts, and what to claim. */
export interface Renewal {
  jobId: string;
  token: number;
  leaseSeconds: number;
  counts: OutcomeCounts;
  /** Range (null: none) and sum of the new rewards; how many of their rollouts have feedback. */
  low: number | null;
  high: number | null;
  rewardSum: number;
  withFeedback: number;
  /** Of all the job's rollouts. */
  emptyAnswers: EmptyCounts;
  /** Prefetched rollouts that have started, and those that are returned. */
  started: string[];
  returned: string[];
  /** Number of rollouts to start now and to prefetch. */
  now: number;
  ahead: number;
}

interface ClaimRow extends Record<string, unknown> {
  job_id: string;
  id: string;
  attempt: number;
  ordinal: number;
  seed: number;
  candidate_id: string | null;
}

/** Renews the leases, updates the counts and claims, in one statement. Returns claims by job. */
export async function renewAndClaim(tx: Tx, renewals: readonly Renewal[]): Promise<Map<string, Claim[]>> {
  const claims = new Map<string, Claim[]>();
  if (renewals.length === 0) return claims;
  const rows = await tx.query<ClaimRow>(
    // `materialized`: Postgres may evaluate a subquery again and claim too many.
    `with given as materialized (
       select * from jsonb_to_recordset($1::jsonb) as g(job_id text, token bigint, seconds float8, succeeded int,
         failed int, connect int, low float8, high float8, reward_sum float8,
         with_feedback int, empty_answers jsonb, now int, ahead int)
     ), renewed as (
       update job_controls c
          set rollouts_succeeded = g.succeeded, rollouts_failed = g.failed, connect_failures = g.connect,
              reward_low = least(c.reward_low, g.low), reward_high = greatest(c.reward_high, g.high),
              reward_sum = c.reward_sum + g.reward_sum,
              rollouts_with_feedback = c.rollouts_with_feedback + g.with_feedback,
              empty_answers = g.empty_answers,
              ${countedPace('c', 'g.succeeded + g.failed - c.rollouts_succeeded - c.rollouts_failed')},
              lease_expires_at = clock_timestamp() + make_interval(secs => g.seconds)
         from given g where c.job_id = g.job_id and c.lease_token = g.token
     ), started as (
       update rollouts r set started_at = clock_timestamp()
         from given g where r.id = any($2) and r.job_id = g.job_id and r.status = 'running' and r.started_at is null
     ), returned as (
       update rollouts r set status = 'queued', started_at = case when r.resent > 0 then r.started_at end
         from given g where r.id = any($3) and r.job_id = g.job_id and r.status = 'running' and r.lease_token = g.token
     ), chosen as materialized (
       select o.id, g.token, g.now, row_number() over (partition by g.job_id order by o.ordinal) as n
         from given g cross join lateral (
           select id, ordinal from rollouts
            where job_id = g.job_id and completed_at is null
              and (status = 'queued' or (status = 'running' and lease_token < g.token))
            order by ordinal limit g.now + g.ahead for update) o
     )
     update rollouts r
        set status = 'running', attempt = r.attempt + 1, lease_token = c.token,
            resent = r.resent + case when r.status = 'running' then 1 else 0 end,
            started_at = coalesce(r.started_at, case when c.n <= c.now then clock_timestamp() end)
       from chosen c where r.id = c.id
      returning r.job_id, r.id, r.attempt, r.ordinal, r.seed, r.candidate_id`,
    [
      JSON.stringify(renewals.map(row)),
      renewals.flatMap(({ started }) => started),
      renewals.flatMap(({ returned }) => returned),
    ],
    'renew_and_claim',
  );
  for (const { job_id, id: rolloutId, attempt, ordinal, seed, candidate_id: candidateId } of rows) {
    const of = claims.get(job_id) ?? [];
    claims.set(job_id, of);
    of.push({ rolloutId, attempt, ordinal, seed, candidateId });
  }
  for (const of of claims.values()) of.sort((a, b) => a.ordinal - b.ordinal);
  return claims;
}

function row({
  jobId,
  token,
  leaseSeconds,
  counts,
  low,
  high,
  rewardSum,
  withFeedback,
  emptyAnswers,
  now,
  ahead,
}: Renewal) {
  const { succeeded, failed, connectFailuresInARow: connect } = counts;
  return {
    job_id: jobId,
    token,
    seconds: leaseSeconds,
    succeeded,
    failed,
    connect,
    low,
    high,
    reward_sum: rewardSum,
    with_feedback: withFeedback,
    empty_answers: emptyAnswers,
    now,
    ahead,
  };
}
