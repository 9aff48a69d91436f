import type { Tx } from './db.js';

/** An evaluation in numbers; the mean is over the successful rows, null while there is none. */
export interface EvaluationSummary {
  total: number;
  finished: number;
  succeeded: number;
  failed: number;
  meanReward: number | null;
}

export async function evaluationSummary(tx: Tx, jobId: string): Promise<EvaluationSummary> {
  const [row] = await tx.query<{ total: number; succeeded: number; failed: number; mean: number | null }>(
    // The total is what was asked for: a job that fails early has no rollouts yet.
    `select (select jsonb_array_length(spec->'seeds') from jobs where id = $1) as total,
            count(*) filter (where status = 'succeeded') as succeeded,
            count(*) filter (where status = 'failed') as failed, avg(reward) filter (where status = 'succeeded') as mean
       from rollouts where job_id = $1 and source = 'service'`,
    [jobId],
  );
  const { total = 0, succeeded = 0, failed = 0, mean = null } = row ?? {};
  return { total, finished: succeeded + failed, succeeded, failed, meanReward: mean };
}
