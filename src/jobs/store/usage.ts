import type { Tx } from '../../platform/db/db.js';

/** Totals of a job's model calls; tokens or `totalCostUsd` null: a call of unknown ones. */
export interface Usage {
  promptTokens: number | null;
  completionTokens: number | null;
  totalCostUsd: number | null;
  costSource: 'reported' | 'table' | 'unknown';
  calls: number;
  /** Answered calls of rollouts and judges, and those of them that the answer cache answered. */
  answered: number;
  cached: number;
}

/** The shard of the request that made a job; calls have shards from 0. */
export const requestShard = -1;

/** SQL of the UTC day that new usage counts for. */
export const today = `(now() at time zone 'utc')::date`;

/**
 * SQL step that adds the inserted model calls (`inserted`, returning *) to the job's sums.
 * `writer`, an SQL expression: the shard of every job of the transaction, so that two of them lock
 * rows in the same order; null: any shard.
 */
export const addUsage = (
  writer = 'null',
) => `insert into job_usage as u (job_id, org_id, shard, calls, prompt_tokens, completion_tokens, cost_usd,
                                                    unpriced, uncounted, from_table, answered, cached, bytes)
  select job_id, org_id, coalesce(${writer} % 16, floor(random() * 16)::int), count(*),
         coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0), coalesce(sum(cost_usd), 0),
         count(*) filter (where cost_usd is null),
         count(*) filter (where prompt_tokens is null or completion_tokens is null), count(*) filter (where cost_source = 'table'),
         count(*) filter (where purpose in ('rollout', 'judge') and http_status < 300),
         count(*) filter (where cached_from is not null),
         coalesce(sum(pg_column_size(request) + coalesce(pg_column_size(response), 0)), 0)
    from inserted group by job_id, org_id
  on conflict (job_id, shard, day) do update
    set calls = u.calls + excluded.calls, prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
        completion_tokens = u.completion_tokens + excluded.completion_tokens, cost_usd = u.cost_usd + excluded.cost_usd,
        unpriced = u.unpriced + excluded.unpriced, uncounted = u.uncounted + excluded.uncounted, from_table = u.from_table + excluded.from_table,
        answered = u.answered + excluded.answered, cached = u.cached + excluded.cached,
        bytes = u.bytes + excluded.bytes`;

/** SQL of a job's cost; null: no calls, or one of unknown cost. The order makes it reproducible. */
export const totalCost = 'case when sum(calls) > 0 and sum(unpriced) = 0 then sum(cost_usd order by shard, day) end';

interface Sums extends Record<string, unknown> {
  prompt: number | null;
  completion: number | null;
  cost: number | null;
  table_used: boolean;
}

/** Sums a job's model calls, including the proposer's. No calls: the cost is unknown. */
export async function readUsage(tx: Tx, jobId: string): Promise<Usage> {
  const [row] = await tx.query<Pick<Usage, 'calls' | 'answered' | 'cached'> & Sums>(
    `select coalesce(sum(calls), 0)::bigint as calls, coalesce(sum(answered), 0)::bigint as answered,
            coalesce(sum(cached), 0)::bigint as cached,
            case when coalesce(sum(uncounted), 0) = 0 then coalesce(sum(prompt_tokens), 0)::bigint end as prompt,
            case when coalesce(sum(uncounted), 0) = 0 then coalesce(sum(completion_tokens), 0)::bigint end as completion,
            ${totalCost} as cost,
            coalesce(sum(from_table) > 0, false) as table_used
       from job_usage where job_id = $1`,
    [jobId],
    'read_usage',
  );
  const { prompt, completion, cost, table_used, ...counts } = row!;
  const costSource = cost === null ? 'unknown' : table_used ? 'table' : 'reported';
  return { promptTokens: prompt, completionTokens: completion, totalCostUsd: cost, costSource, ...counts };
}

/** `totalCostUsd` of several jobs, by id. */
export async function readCosts(tx: Tx, jobIds: readonly string[]): Promise<Map<string, number | null>> {
  const rows = await tx.query<{ id: string; cost: number | null }>(
    `select job_id as id, ${totalCost} as cost from job_usage where job_id = any($1) group by job_id`,
    [jobIds],
    'read_costs',
  );
  return new Map(rows.map(({ id, cost }) => [id, cost]));
}
