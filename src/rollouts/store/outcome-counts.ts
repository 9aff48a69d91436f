import { exceedsRate, type OutcomeCounts } from '../../core/jobs/failures.js';
import type { Tx } from '../../platform/db/db.js';
import type { LockedControl } from '../../jobs/store/events.js';

type Counted = Pick<LockedControl, 'rollouts_succeeded' | 'rollouts_failed' | 'connect_failures'>;

export function countsIn(row: Counted): OutcomeCounts {
  return {
    succeeded: row.rollouts_succeeded,
    failed: row.rollouts_failed,
    connectFailuresInARow: row.connect_failures,
  };
}

/** The counts of a job's control row; with those of the last outcomes where too many failed. */
export async function readCounts(tx: Tx, jobId: string, row: Counted, maxFailureRate: number): Promise<OutcomeCounts> {
  const counts = countsIn(row);
  return exceedsRate(counts, maxFailureRate) ? { ...counts, distinct: await countDistinct(tx, jobId) } : counts;
}

/** Counts the last outcome of each candidate on each seed: another try replaces a failed one. */
export async function countDistinct(tx: Tx, jobId: string): Promise<{ succeeded: number; failed: number }> {
  const [row] = await tx.query<{ succeeded: number; failed: number }>(
    `select count(*) filter (where status = 'succeeded') as succeeded, count(*) filter (where status = 'failed') as failed
       from (select distinct on (candidate_id, seed) status from rollouts
              where job_id = $1 and source = 'service' and status in ('succeeded', 'failed')
              order by candidate_id, seed, ordinal desc) last`,
    [jobId],
    'count_distinct',
  );
  return row!;
}

/**
 * SQL of an update of the control row `c` that counts `added` outcomes for `paceOf`: in the minute
 * of the last one, and in the minute before.
 */
export function countedPace(c: string, added: string): string {
  const minute = `date_trunc('minute', now())`;
  const last = `date_trunc('minute', ${c}.last_outcome_at)`;
  const isNew = `${added} > 0`;
  return `last_outcome_at = case when ${isNew} then now() else ${c}.last_outcome_at end,
    outcomes_in_minute = case when ${isNew} and ${last} is distinct from ${minute} then ${added} else ${c}.outcomes_in_minute + ${added} end,
    outcomes_before = case when not (${isNew}) or ${last} = ${minute} then ${c}.outcomes_before
                           when ${last} = ${minute} - interval '1 minute' then ${c}.outcomes_in_minute else 0 end`;
}
