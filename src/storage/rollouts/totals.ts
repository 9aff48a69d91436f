import { largestReward } from '../../core/math/rewards.js';
import type { Tx } from '../db/db.js';

/** A reward as it is counted (src/core/math/rewards.ts): Postgres's `avg` refuses numbers whose squares overflow. */
export const countedReward = `greatest(least(reward, ${largestReward}), -${largestReward})`;

/** Sums of the search's finished rollouts by candidate, from the ordinal $2 on; what a caller calls for itself has no ordinal. */
export const rewardSums = `select candidate_id, count(*) as n, count(*) filter (where status = 'succeeded') as succeeded,
    coalesce(sum(${countedReward}) filter (where status = 'succeeded'), 0) as rewards
  from rollouts where job_id = $1 and status in ('succeeded', 'failed') and ordinal >= $2`;

/** Up to which ordinal the candidates' own sums go; it only grows. */
export async function readCounted(tx: Tx, jobId: string): Promise<number> {
  const [row] = await tx.query<{ n: number }>('select rollouts_counted as n from jobs where id = $1', [jobId]);
  return row?.n ?? 0;
}

/** How a job's rollouts stand. Tokens and cost are those of the recorded outcomes. */
export interface RolloutTotals extends Record<string, unknown> {
  succeeded: number;
  failed: number;
  resent: number;
  meanReward: number | null;
  tokens: number;
  costUsd: number | null;
}

/** Sums over the job's own rollouts; the cost is null where one that made calls has none, or none made any. */
export async function readTotals(tx: Tx, jobId: string): Promise<RolloutTotals> {
  const [row] = await tx.query<RolloutTotals>(
    `select count(*) filter (where status = 'succeeded') as succeeded, count(*) filter (where status = 'failed') as failed,
            coalesce(sum(resent), 0) as resent, -- Added up in the order asked for, so that the mean is the same to the last bit however it is read.
            sum(${countedReward} order by ordinal) filter (where status = 'succeeded')
              / nullif(count(*) filter (where status = 'succeeded'), 0) as "meanReward",
            coalesce(sum(prompt_tokens + completion_tokens), 0)::float8 as tokens,
            case when not bool_or(prompt_tokens is not null and cost_usd is null) then sum(cost_usd) end as "costUsd"
       from rollouts where job_id = $1 and source = 'service'`,
    [jobId],
  );
  return row!;
}

/** How often the job's rollouts were sent again. */
export async function readResent(tx: Tx, jobId: string): Promise<number> {
  const [row] = await tx.query<{ resent: number }>(
    `select coalesce(sum(resent), 0) as resent from rollouts where job_id = $1 and source = 'service' and resent > 0`,
    [jobId],
  );
  return row!.resent;
}

/** The outcome of one rollout. */
export interface SeedResult extends Record<string, unknown> {
  rolloutId: string;
  seed: number;
  status: 'succeeded' | 'failed';
  reward: number | null;
  latencyMs: number | null;
  tokens: number;
  costUsd: number | null;
  error: string | null;
  completedAt: Date | null;
}

/** Every finished rollout of the job, in the order they were asked for. */
export async function readSeedResults(tx: Tx, jobId: string): Promise<SeedResult[]> {
  return tx.query<SeedResult>(
    `select id as "rolloutId", seed, status, case when status = 'succeeded' then reward end as reward,
            latency_ms as "latencyMs", (coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0))::float8 as tokens,
            cost_usd as "costUsd", error->>'message' as error, completed_at as "completedAt"
       from rollouts where job_id = $1 and source = 'service' and status in ('succeeded', 'failed') order by ordinal`,
    [jobId],
  );
}
