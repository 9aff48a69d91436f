/** What is read for the front over a session's evaluation seeds. */
import type { Tx } from './db.js';
import { countedReward } from './reads.js';

/** On which seeds a session evaluates, in its own order, and how often each. */
export async function readEvaluation(tx: Tx, jobId: string): Promise<{ seeds: number[]; repeats: number }> {
  const [row] = await tx.query<{ seeds: number[] | null; repeats: number | null }>(
    `select spec->'gepa'->'evaluationSeeds' as seeds, (spec->'gepa'->>'repeats')::int as repeats from jobs where id = $1`,
    [jobId],
  );
  return { seeds: row?.seeds ?? [], repeats: row?.repeats ?? 1 };
}

/**
 * What evaluated candidates were found to score on each of the evaluation seeds, by candidate, then by seed: the rollouts
 * of the evaluation itself; where it did not have to buy a seed, what was last measured there before it. A failed one is 0;
 * one that was asked again does not count.
 */
export async function readEvaluatedRewards(
  tx: Tx,
  jobId: string,
  candidateIds: readonly string[],
  { seeds, repeats }: { seeds: readonly number[]; repeats: number },
): Promise<Map<string, Map<number, number>>> {
  if (candidateIds.length === 0) return new Map();
  const rows = await tx.query<{ id: string; rewards: [number, number][] }>(
    `with own as (
       select candidate_id, seed, ordinal, stage in ('baseline', 'evaluation') as evaluation,
              coalesce((error->>'infrastructure')::boolean, false) as infrastructure,
              case when status = 'succeeded' then ${countedReward} else 0 end as reward,
              min(ordinal) filter (where stage = 'evaluation') over (partition by candidate_id) as begun
         from rollouts
        where job_id = $1 and ordinal is not null and candidate_id = any($2) and seed = any($3) and stage <> 'heldout'
          and status in ('succeeded', 'failed')
     ), ranked as ( -- Of an evaluation's rollouts on a seed as many count as there are repeats: those asked again are too many.
       select *, row_number() over (partition by candidate_id, seed
                   order by evaluation desc, evaluation and infrastructure, ordinal desc) as place
         from own where evaluation or begun is null or ordinal < begun
     ), counted as (
       select candidate_id, seed, sum(reward order by ordinal) / count(*) as reward
         from ranked where place <= $4 group by candidate_id, seed
     )
     select candidate_id as id, json_agg(json_build_array(seed, reward)) as rewards from counted group by candidate_id`,
    [jobId, candidateIds, seeds, repeats],
  );
  return new Map(rows.map(({ id, rewards }) => [id, new Map(rewards)]));
}
