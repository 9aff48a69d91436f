import type { Tx } from '../../platform/db/db.js';

/** `count` of the `failed` rollouts have the same code; `message` is the usual one. */
export interface FailureCause extends Record<string, unknown> {
  message: string;
  count: number;
  failed: number;
}

/** The commonest cause among failed rollouts, by their code; null: none failed. */
export async function readCommonestCause(tx: Tx, jobId: string): Promise<FailureCause | null> {
  const [row] = await tx.query<FailureCause>(
    `with last as (
       -- As for max_failure_rate: the last try of a candidate on a seed counts.
       select distinct on (candidate_id, seed) status, error from rollouts
        where job_id = $1 and source = 'service' and status in ('succeeded', 'failed')
        order by candidate_id, seed, ordinal desc
     )
     select mode() within group (order by error->>'message') as message, count(*) as count,
            sum(count(*)) over ()::float8 as failed
       from last where status = 'failed' group by error->>'code' order by count desc, message limit 1`,
    [jobId],
  );
  return row ?? null;
}
