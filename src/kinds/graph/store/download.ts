/** Reads for the download of a graph job. Sums are `numeric`: float sums depend on row order. */
import type { GraphJson } from '../contract/graph.js';
import type { GraphSpec } from '../../../core/jobs/spec.js';
import type { Tx } from '../../../platform/db/db.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { costAtModel } from '../../../rollouts/store/call-records.js';
import { countedReward } from '../../../rollouts/store/totals.js';

const cost = costAtModel('m');

/** Indexes of the tasks used for selection and for the final comparison. */
export interface TaskParts {
  evaluation: number[];
  heldout: number[];
}

export async function readTaskParts(tx: Tx, jobId: string): Promise<TaskParts> {
  const { search } = await readSpec<GraphSpec>(tx, jobId);
  const { evaluationSeeds: evaluation, heldoutSeeds: heldout } = search;
  return { evaluation, heldout };
}

/** Task ids by index. */
export async function readTaskIds(tx: Tx, jobId: string, indexes: readonly number[]): Promise<Map<number, string>> {
  const rows = await tx.query<{ index: number; id: string }>(
    'select task_index as index, task_id as id from graph_tasks where job_id = $1 and task_index = any($2)',
    [jobId, indexes],
  );
  return new Map(rows.map(({ index, id }) => [index, id]));
}

/** Totals of model calls; null: unknown for a call. */
export interface Spending extends Record<string, unknown> {
  calls: number;
  promptTokens: number | null;
  completionTokens: number | null;
  usd: number | null;
}

/** Totals of a job's model calls by purpose. */
export async function readSpending(tx: Tx, jobId: string): Promise<(Spending & { purpose: string })[]> {
  return tx.query<Spending & { purpose: string }>(
    `select purpose, count(*) as calls,
            case when count(prompt_tokens) = count(*) then sum(prompt_tokens)::float8 end as "promptTokens",
            case when count(completion_tokens) = count(*) then sum(completion_tokens)::float8 end as "completionTokens",
            case when count(cost_usd) = count(*) then sum(cost_usd::numeric)::float8 end as usd
       from model_calls where job_id = $1 group by purpose order by purpose`,
    [jobId],
  );
}

/** A candidate's finished rollouts: count, mean reward of the succeeded ones, mean cost. */
export interface RunMeans extends Spending {
  id: string;
  avgReward: number | null;
}

/** Means of these candidates, unordered; without rollouts left out. Judge calls are not counted. */
export async function readRunMeans(tx: Tx, jobId: string, candidateIds: readonly string[]): Promise<RunMeans[]> {
  return tx.query<RunMeans>(
    `select r.candidate_id as id,
            sum(${countedReward} order by r.ordinal) filter (where r.status = 'succeeded')
              / nullif(count(*) filter (where r.status = 'succeeded'), 0) as "avgReward",
            avg(c.calls)::float8 as calls,
            case when sum(c.prompts) = sum(c.calls) then avg(c.prompt)::float8 end as "promptTokens",
            case when sum(c.answers) = sum(c.calls) then avg(c.completion)::float8 end as "completionTokens",
            case when sum(c.calls) > 0 and sum(c.unpriced) = 0 then avg(c.usd)::float8 end as usd
       from rollouts r
       cross join lateral (
         select count(*) as calls, count(prompt_tokens) as prompts, count(completion_tokens) as answers,
                coalesce(sum(prompt_tokens), 0) as prompt, coalesce(sum(completion_tokens), 0) as completion,
                coalesce(sum((${cost})::numeric), 0) as usd, count(*) - count(${cost}) as unpriced
           from model_calls m where job_id = $1 and rollout_id = r.id and purpose = 'rollout'
       ) c
      where r.job_id = $1 and r.candidate_id = any($2) and r.source = 'service' and r.status in ('succeeded', 'failed')
      group by r.candidate_id`,
    [jobId, candidateIds],
  );
}

/** At most `limit` graphs of candidates after a lever version, ascending. */
export async function readGraphs(
  tx: Tx,
  jobId: string,
  page: { after: number; limit: number },
): Promise<{ leverVersion: number; graph: GraphJson | null }[]> {
  return tx.query<{ leverVersion: number; graph: GraphJson | null }>(
    `select lever_version as "leverVersion", graph from candidates
      where job_id = $1 and lever_version > $2 order by lever_version limit $3`,
    [jobId, page.after, page.limit],
  );
}
