/** Reads for the fronts over a search's evaluation seeds. */
import type { SearchSpec } from '../../core/jobs/spec.js';
import type { Weighed } from '../../core/search/cost-front.js';
import type { Tx } from '../../platform/db/db.js';
import { readSpec } from '../../jobs/store/spec.js';
import { costAtModel } from '../../rollouts/store/call-records.js';
import { countedReward } from '../../rollouts/store/totals.js';

const cost = costAtModel('m');

/** The evaluation seeds in the search's order, and the rollouts per seed. */
export interface EvaluationPlan {
  seeds: number[];
  repeats: number;
}

export async function readEvaluation(tx: Tx, jobId: string): Promise<EvaluationPlan> {
  const { search } = await readSpec<SearchSpec>(tx, jobId);
  const { evaluationSeeds: seeds, repeats } = search;
  return { seeds, repeats };
}

/**
 * The $4 rollouts per seed $3 that count in the evaluation of candidates $2 of job $1. Seeds that
 * the evaluation did not run use the latest earlier rollouts.
 */
const counting = `own as (
       select id, candidate_id, seed, ordinal, stage in ('baseline', 'evaluation') as evaluation,
              case when status = 'succeeded' then ${countedReward} else 0 end as reward,
              min(ordinal) filter (where stage = 'evaluation') over (partition by candidate_id) as begun
         from rollouts
        where job_id = $1 and ordinal is not null and candidate_id = any($2) and seed = any($3) and stage <> 'heldout'
          and status in ('succeeded', 'failed') and not repeated
     ), ranked as (
       select *, row_number() over (partition by candidate_id, seed order by evaluation desc, ordinal desc) as n
         from own where evaluation or begun is null or ordinal < begun
     ), counting as (
       select * from ranked where n <= $4
     )`;

/** Mean rewards by candidate and evaluation seed. A failed rollout counts as 0. */
export async function readEvaluatedRewards(
  tx: Tx,
  jobId: string,
  candidateIds: readonly string[],
  { seeds, repeats }: EvaluationPlan,
): Promise<Map<string, Map<number, number>>> {
  if (candidateIds.length === 0) return new Map();
  const rows = await tx.query<{ id: string; rewards: [number, number][] }>(
    `with ${counting}, counted as (
       select candidate_id, seed, sum(reward order by ordinal) / count(*) as reward from counting group by candidate_id, seed
     )
     select candidate_id as id, json_agg(json_build_array(seed, reward)) as rewards from counted group by candidate_id`,
    [jobId, candidateIds, seeds, repeats],
  );
  return new Map(rows.map(({ id, rewards }) => [id, new Map(rewards)]));
}

type EvaluationCost = Omit<Weighed, 'reward' | 'promptTokens'>;

/**
 * Mean cost and time of an evaluation rollout by candidate, without judge and proposer calls.
 * Candidates without such rollouts are left out.
 */
export async function readEvaluationCosts(
  tx: Tx,
  jobId: string,
  candidateIds: readonly string[],
  { seeds, repeats }: EvaluationPlan,
): Promise<Map<string, EvaluationCost>> {
  if (candidateIds.length === 0) return new Map();
  const rows = await tx.query<{ id: string } & EvaluationCost>(
    `with ${counting}, spent as ( -- A rollout without calls costs nothing.
       select c.candidate_id, c.ordinal, count(m.id) as calls,
              case when count(m.id) = count(${cost}) then coalesce(sum(${cost} order by m.id collate "C"), 0) end as cost,
              case when count(m.id) = count(m.prompt_tokens + m.completion_tokens)
                   then coalesce(sum(m.prompt_tokens + m.completion_tokens), 0) end as tokens,
              case when count(m.id) = count(m.latency_ms) filter (where m.cached_from is null)
                   then sum(m.latency_ms) end as latency
         from counting c
         left join model_calls m on m.job_id = $1 and m.rollout_id = c.id and m.purpose = 'rollout'
        group by c.candidate_id, c.ordinal
     )
     select candidate_id as id, (sum(calls) / count(*))::float8 as calls,
            case when count(*) = count(cost) then sum(cost order by ordinal) / count(*) end as "costUsd",
            case when count(*) = count(tokens) then (sum(tokens) / count(*))::float8 end as tokens,
            case when count(*) = count(latency) then sum(latency) / count(*) end as "latencyMs"
       from spent group by candidate_id`,
    [jobId, candidateIds, seeds, repeats],
  );
  return new Map(rows.map(({ id, ...costs }) => [id, costs]));
}
