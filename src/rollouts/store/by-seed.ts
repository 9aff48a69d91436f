/** Rollouts seed by seed, for comparisons. */
import type { SeedMeans } from '../../core/search/comparison.js';
import type { Tx } from '../../platform/db/db.js';
import { costAtModel } from './call-records.js';
import { countedReward } from './totals.js';

const cost = costAtModel('m');

/** `failed`: seeds on which rollouts ended and none succeeded. */
export interface SeedsMeasured {
  means: Map<number, SeedMeans>;
  failed: number[];
}

/**
 * The finished rollouts of a candidate, or of an evaluation (null), by seed. Calls of a judge are
 * not the candidate's cost.
 */
export async function readSeedMeans(tx: Tx, jobId: string, candidateId: string | null): Promise<SeedsMeasured> {
  type Row = Omit<SeedMeans, 'reward'> & { seed: number; reward: number | null };
  const rows = await tx.query<Row>(
    `with own as (
       select id, seed, ordinal, status = 'succeeded' as good, ${countedReward} as reward, latency_ms
         from rollouts
        where job_id = $1 and ordinal is not null and seed is not null and status in ('succeeded', 'failed')
          and not repeated ${candidateId === null ? '' : 'and candidate_id = $2'}
     ), spent as (
       select own.*, c.calls, c.cost
         from own left join lateral (
           select count(*) as calls,
                  case when count(*) = count(${cost}) then coalesce(sum(${cost} order by m.id collate "C"), 0) end as cost
             from model_calls m
            where own.good and m.job_id = $1 and m.rollout_id = own.id and m.purpose <> 'judge'
         ) c on true
     )
     select seed, sum(reward order by ordinal) filter (where good) / nullif(count(*) filter (where good), 0) as reward,
            case when count(*) filter (where good) = count(cost) filter (where good)
                 then avg(cost order by ordinal) filter (where good) end as "costUsd",
            coalesce(sum(calls) filter (where good), 0)::int as calls,
            avg(latency_ms order by ordinal) filter (where good) as "latencyMs"
       from spent group by seed order by seed`,
    candidateId === null ? [jobId] : [jobId, candidateId],
  );
  const means = rows.flatMap(({ seed, reward, ...rest }): [number, SeedMeans][] =>
    reward === null ? [] : [[seed, { reward, ...rest }]],
  );
  return {
    means: new Map(means),
    failed: rows.flatMap(({ seed, reward }) => (reward === null ? [seed] : [])),
  };
}
