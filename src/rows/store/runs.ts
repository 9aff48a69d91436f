import type { RowRun } from '../../core/rows/collect.js';
import type { Tx } from '../../platform/db/db.js';
import { countedReward } from '../../rollouts/store/totals.js';

/**
 * The finished rollouts of these candidates, or of an evaluation (null), which has one, in their
 * order.
 */
export async function readRuns(tx: Tx, jobId: string, candidateIds: readonly string[] | null): Promise<RowRun[]> {
  return tx.query<RowRun & Record<string, unknown>>(
    `select id as "rolloutId", seed, ${candidateIds === null ? 'null' : 'candidate_id'} as "candidateId",
            case when status = 'succeeded' then ${countedReward} end as reward
       from rollouts
      where job_id = $1 and ordinal is not null and seed is not null and status in ('succeeded', 'failed')
        and not repeated ${candidateIds === null ? '' : 'and candidate_id = any($2)'}
      order by ordinal`,
    candidateIds === null ? [jobId] : [jobId, candidateIds],
  );
}
