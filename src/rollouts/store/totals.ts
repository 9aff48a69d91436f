import { meanInterval, type Interval } from '../../core/math/mean-interval.js';
import { largestReward } from '../../core/math/rewards.js';
import type { Tx } from '../../platform/db/db.js';

/** A reward clamped as in core/math/rewards: `avg` refuses squares that overflow. */
export const countedReward = `greatest(least(reward, ${largestReward}), -${largestReward})`;

/** Sums of finished rollouts of the search by candidate; add bounds of the ordinal. */
export const rewardSums = `select candidate_id, count(*) as n, count(*) filter (where status = 'succeeded') as succeeded,
    coalesce(sum(${countedReward}) filter (where status = 'succeeded'), 0) as rewards
  from rollouts where job_id = $1 and status in ('succeeded', 'failed')`;

/** The ordinal up to which candidates' sums include rollouts of job $1; it only grows. */
export const countedThrough = 'select rollouts_counted from jobs where id = $1';

export async function readCounted(tx: Tx, jobId: string): Promise<number> {
  const [row] = await tx.query<{ rollouts_counted: number }>(countedThrough, [jobId], 'read_counted');
  return row?.rollouts_counted ?? 0;
}

/** A job's rollout counts; tokens and cost are of recorded outcomes. */
export interface RolloutTotals extends Record<string, unknown> {
  succeeded: number;
  failed: number;
  resent: number;
  meanReward: number | null;
  /** Of the mean rewards of the seeds that succeeded. */
  seeds: number;
  variance: number;
  least: number | null;
  greatest: number | null;
  tokens: number | null;
  costUsd: number | null;
}

/** Whether a rollout made calls: without them its null tokens and cost are 0, else unknown. */
const hasCalls = `exists (select from model_calls c where c.job_id = rollouts.job_id and c.rollout_id = rollouts.id)`;

/** Rewards whose squares do not overflow. */
const squarable = 'greatest(least(reward, 1e100), -1e100)';

/** SQL of the sums over the rollouts that job $1 requested. */
const totals = `select t.*, s.* from (${sums()}) t cross join (${rewardsBySeed()}) s`;

function sums(): string {
  return `select count(*) filter (where status = 'succeeded') as succeeded, count(*) filter (where status = 'failed') as failed,
    coalesce(sum(resent), 0) as resent, -- Ordered sum: the mean is reproducible to the last bit.
            sum(${countedReward} order by ordinal) filter (where status = 'succeeded')
              / nullif(count(*) filter (where status = 'succeeded'), 0) as "meanReward",
            case when not coalesce(bool_or(prompt_tokens + completion_tokens is null and ${hasCalls}), false)
                 then coalesce(sum(prompt_tokens + completion_tokens), 0)::float8 end as tokens,
            case when not bool_or(cost_usd is null and ${hasCalls}) then sum(cost_usd) end as "costUsd"
       from rollouts where job_id = $1 and source = 'service'`;
}

function rewardsBySeed(): string {
  return `select count(*) as seeds, coalesce(var_samp(${squarable}), 0) as variance, min(reward) as least, max(reward) as greatest
       from (select sum(${countedReward}) / count(*) as reward from rollouts
              where job_id = $1 and source = 'service' and status = 'succeeded' group by seed) by_seed`;
}

/**
 * A job's sums: kept at its end, else of its rollouts. Cost null: no calls, or an unknown cost;
 * tokens null: those of a call are unknown.
 */
export async function readTotals(tx: Tx, jobId: string): Promise<RolloutTotals> {
  const [kept] = await tx.query<{ totals: RolloutTotals | null }>('select totals from jobs where id = $1', [jobId]);
  if (kept?.totals) return kept.totals;
  const [row] = await tx.query<RolloutTotals>(totals, [jobId]);
  return row!;
}

/** The 95 % interval of the mean reward on unseen seeds; null: no seed succeeded. */
export function intervalOfTotals({ meanReward, seeds, variance, least, greatest }: RolloutTotals): Interval | null {
  if (meanReward === null) return null;
  const ends = { least: least!, greatest: greatest! };
  const { low, high } = meanInterval({ count: seeds, mean: meanReward, variance, ...ends });
  return { low, high };
}

/** Keeps the sums of a job that ends: they change no more, and are read without its rollouts. */
export async function keepTotals(tx: Tx, jobId: string): Promise<void> {
  await tx.query(`update jobs set totals = (select to_jsonb(t) from (${totals}) t) where id = $1`, [jobId]);
}

/** How many times the job's rollouts were resent. */
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
  /** 0: no calls; null: those of a call are unknown. */
  tokens: number | null;
  costUsd: number | null;
  error: string | null;
  completedAt: Date | null;
}

/** Columns of a `SeedResult`. */
export const seedResultColumns = `id as "rolloutId", seed, status, case when status = 'succeeded' then reward end as reward,
            latency_ms as "latencyMs",
            coalesce(prompt_tokens + completion_tokens, case when not ${hasCalls} then 0 end)::float8 as tokens,
            cost_usd as "costUsd", error->>'message' as error, completed_at as "completedAt"`;

/** Every finished rollout of the job, by ordinal. */
export async function readSeedResults(tx: Tx, jobId: string): Promise<SeedResult[]> {
  return tx.query<SeedResult>(
    `select ${seedResultColumns}
       from rollouts where job_id = $1 and source = 'service' and status in ('succeeded', 'failed') order by ordinal`,
    [jobId],
  );
}
