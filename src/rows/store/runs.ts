import type { RowRun } from '../../core/rows/collect.js';
import type { Tx } from '../../platform/db/db.js';
import { countedReward } from '../../rollouts/store/totals.js';

/**
 * The finished rollouts of a candidate, or of an evaluation (null), which has one, in their order.
 * Sent as three lists: ten thousand rows of a result take five times as long to read.
 */
export async function readRuns(tx: Tx, jobId: string, candidateId: string | null): Promise<RowRun[]> {
  type Lists = Record<'ids', string[] | null> & Record<'seeds', number[]> & Record<'rewards', (number | null)[]>;
  const [lists] = await tx.query<Lists>(
    `select json_agg(id) as ids, json_agg(seed) as seeds, json_agg(reward) as rewards
       from (select id, seed, case when status = 'succeeded' then ${countedReward} end as reward
               from rollouts
              where job_id = $1 and ordinal is not null and seed is not null and status in ('succeeded', 'failed')
                and not repeated ${candidateId === null ? '' : 'and candidate_id = $2'}
              order by ordinal) runs`,
    candidateId === null ? [jobId] : [jobId, candidateId],
  );
  const { ids, seeds, rewards } = lists!;
  return (ids ?? []).map((rolloutId, at) => ({ rolloutId, seed: seeds[at]!, reward: rewards[at]! }));
}
