import type { EmptyReason } from '../../core/answers/ending.js';
import { candidateId, rolloutId } from '../../core/jobs/ids.js';
import type { RolloutAnswer, RolloutRequest } from '../../core/search/protocol.js';
import type { Tx } from '../../platform/db/db.js';
import type { JobRef } from '../../jobs/store/events.js';
import type { Claim } from './claims.js';
import { costAtModel } from './call-records.js';

/** The lease under which rollouts are claimed as they are stored, and how many. */
export interface FirstClaims {
  token: number;
  slots: number;
}

/**
 * Inserts requested rollouts unless they exist, and claims the first of them. `withCandidate`
 * false: null candidate ids. Call it under `lockJob`, so that `rollout_idx` counts without gaps.
 */
export async function planRollouts(
  tx: Tx,
  job: JobRef,
  requests: RolloutRequest[],
  withCandidate: boolean,
  { token, slots }: FirstClaims = { token: 0, slots: 0 },
): Promise<Claim[]> {
  if (requests.length === 0) return [];
  return tx.query<Claim & Record<string, unknown>>(
    `with input as (
       select *, row_number() over (order by ordinal) as n
         from unnest($3::text[], $4::int[], $5::text[], $6::bigint[], $7::text[], $8::int[])
              as t(id, ordinal, candidate_id, seed, stage, generation)
        -- One look-up per row: for a join Postgres may read all rollouts.
        where (select r.ordinal from rollouts r where r.id = t.id) is null
     ), bumped as (
       update job_controls set rollout_idx = rollout_idx + (select count(*) from input) where job_id = $1 returning rollout_idx
     ), planned as (
       insert into rollouts (id, org_id, job_id, idx, source, ordinal, stage, generation, seed, candidate_id,
                             status, attempt, lease_token, started_at)
       select id, $2, $1, rollout_idx - (select count(*) from input) + n - 1, 'service',
              ordinal, stage, generation, seed, candidate_id,
              case when n <= $10 then 'running' else 'queued' end, case when n <= $10 then 1 else 0 end,
              case when n <= $10 then $9::bigint else 0 end, case when n <= $10 then clock_timestamp() end
         from input, bumped
       returning id, attempt, ordinal, seed, candidate_id, status
     )
     select id as "rolloutId", attempt, ordinal, seed, candidate_id as "candidateId" from planned
      where status = 'running' order by ordinal`,
    [
      job.jobId,
      job.orgId,
      requests.map((r) => rolloutId(job.jobId, r.ordinal)),
      requests.map((r) => r.ordinal),
      requests.map((r) => (withCandidate ? candidateId(job.jobId, r.candidate) : null)),
      requests.map((r) => r.seed),
      requests.map((r) => r.stage),
      requests.map((r) => r.generation),
      token,
      slots,
    ],
    'plan_rollouts',
  );
}

/** Whether rollouts `from` to `to` (exclusive) exist: a restore may lose some. */
export async function areWhole(tx: Tx, jobId: string, from: number, to: number): Promise<boolean> {
  const [row] = await tx.query<{ n: number }>(
    `select count(*) as n from rollouts r
      where r.job_id = $1 and r.ordinal >= $2 and r.ordinal < $3
        and (r.candidate_id is null or exists (select from candidates c where c.id = r.candidate_id))`,
    [jobId, from, to],
    'are_whole',
  );
  return row?.n === to - from;
}

/** Cost of a call by unit. Judge calls are not the candidate's. */
const callCost = {
  usd: costAtModel('c'),
  tokens: 'prompt_tokens + completion_tokens',
} as const;

/**
 * The outcomes of rollouts `from` to `to` (exclusive) by ordinal, with costs if `costUnit` is set;
 * null: one is still open.
 */
export async function readAnswers(
  tx: Tx,
  jobId: string,
  from: number,
  to: number,
  costUnit?: keyof typeof callCost,
): Promise<RolloutAnswer[] | null> {
  const column = costUnit && callCost[costUnit];
  const cost = column
    ? `(select case when count(*) = count(${column}) then coalesce(sum(${column}), 0)::float8 end
          from model_calls c where c.rollout_id = r.id and c.purpose = 'rollout')`
    : 'null::float8';
  const rows = await tx.query<{
    ordinal: number;
    status: string;
    reward: number | null;
    infrastructure: boolean | null;
    unverified: boolean | null;
    empty: EmptyReason | null;
    cost: number | null;
  }>(
    `select ordinal, status, reward, (error->>'infrastructure')::boolean as infrastructure,
            error->>'code' ~ '^(judge|scorer)' as unverified, empty, ${cost} as cost
       from rollouts r where job_id = $1 and ordinal >= $2 and ordinal < $3 order by ordinal`,
    [jobId, from, to],
    `read_answers_${costUnit ?? 'free'}`,
  );
  if (rows.length < to - from || rows.some((r) => r.status !== 'succeeded' && r.status !== 'failed')) return null;
  return rows.map((r) => ({
    ordinal: r.ordinal,
    reward: r.status === 'succeeded' ? r.reward : null,
    infrastructure: r.infrastructure ?? false,
    ...(r.unverified && { unverified: true as const }),
    ...(r.empty && r.status === 'succeeded' && { empty: r.empty }),
    ...(r.cost !== null && { cost: r.cost }),
  }));
}

/** Whether rollouts `from` to `to` (exclusive) all have an outcome. */
export async function haveEnded(tx: Tx, jobId: string, from: number, to: number): Promise<boolean> {
  const [row] = await tx.query<{ ended: number }>(
    `select count(*) as ended from rollouts
      where job_id = $1 and ordinal >= $2 and ordinal < $3 and status in ('succeeded', 'failed')`,
    [jobId, from, to],
    'have_ended',
  );
  return row!.ended === to - from;
}
