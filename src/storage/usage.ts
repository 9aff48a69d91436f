import type { Tx } from './db.js';

/** What a job's model calls came to. `totalCostUsd` is null as soon as one call's cost is not known. */
export interface Usage {
  promptTokens: number;
  completionTokens: number;
  totalCostUsd: number | null;
  costSource: 'reported' | 'table' | 'unknown';
}

const sums = `count(*) as calls, coalesce(sum(prompt_tokens), 0) as prompt, coalesce(sum(completion_tokens), 0) as completion,
  coalesce(sum(cost_usd), 0) as cost, count(*) filter (where cost_usd is null) as unpriced,
  count(*) filter (where cost_source = 'table') as from_table`;

/** Of a statement that inserts model calls: the step that adds the rows of `inserted` (returning *) to the job's sums. */
export const addUsage = `insert into job_usage as u (job_id, org_id, shard, calls, prompt_tokens, completion_tokens, cost_usd,
                                                    unpriced, from_table)
  select job_id, org_id, floor(random() * 16)::int, ${sums} from inserted group by job_id, org_id
  on conflict (job_id, shard) do update
    set calls = u.calls + excluded.calls, prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
        completion_tokens = u.completion_tokens + excluded.completion_tokens, cost_usd = u.cost_usd + excluded.cost_usd,
        unpriced = u.unpriced + excluded.unpriced, from_table = u.from_table + excluded.from_table`;

/** Sums a job's model calls: those of its rollouts, of the caller and of the proposer. None at all is unknown, too. */
export async function usageOf(tx: Tx, jobId: string): Promise<Usage> {
  const [row] = await tx.query<{ prompt: number; completion: number; cost: number | null; table_used: boolean }>(
    `with parts as (
       select calls, prompt_tokens as prompt, completion_tokens as completion, cost_usd as cost, unpriced, from_table
         from job_usage where job_id = $1
       union all
       select ${sums} from model_calls where job_id = $1 and not counted
     )
     select sum(prompt)::bigint as prompt, sum(completion)::bigint as completion,
            case when sum(calls) > 0 and sum(unpriced) = 0 then sum(cost) end as cost, sum(from_table) > 0 as table_used
       from parts`,
    [jobId],
  );
  const { prompt, completion, cost, table_used } = row!;
  const costSource = cost === null ? 'unknown' : table_used ? 'table' : 'reported';
  return { promptTokens: prompt, completionTokens: completion, totalCostUsd: cost, costSource };
}
