/** What is read for the download of a graph job alone. Sums are of `numeric`: those of floats depend on the order of rows. */
import type { GraphJson } from '../../contracts/graphs/graph.js';
import type { GraphSpec } from '../../core/jobs/spec.js';
import type { Tx } from '../db/db.js';
import { readSpec } from '../jobs/spec.js';
import { countedReward } from '../rollouts/totals.js';

/** The tasks, by place, that candidates were chosen by and those that winner and baseline were compared on at the end. */
export interface TaskParts {
  evaluation: number[];
  heldout: number[];
}

/** How a job's tasks were parted. */
export async function readTaskParts(tx: Tx, jobId: string): Promise<TaskParts> {
  const { search } = await readSpec<GraphSpec>(tx, jobId);
  const { evaluationSeeds: evaluation, heldoutSeeds: heldout } = search;
  return { evaluation, heldout };
}

/** The ids of the tasks at these places, by place. */
export async function readTaskIds(tx: Tx, jobId: string, indexes: readonly number[]): Promise<Map<number, string>> {
  const rows = await tx.query<{ index: number; id: string }>(
    'select task_index as index, task_id as id from graph_tasks where job_id = $1 and task_index = any($2)',
    [jobId, indexes],
  );
  return new Map(rows.map(({ index, id }) => [index, id]));
}

/** What calls came to; `usd` is null where one's cost is not known. */
export interface Spending extends Record<string, unknown> {
  calls: number;
  promptTokens: number;
  completionTokens: number;
  usd: number | null;
}

/** What all model calls of a job came to, by what they were made for. */
export async function readSpending(tx: Tx, jobId: string): Promise<(Spending & { purpose: string })[]> {
  return tx.query<Spending & { purpose: string }>(
    `select purpose, count(*) as calls, coalesce(sum(prompt_tokens), 0)::float8 as "promptTokens",
            coalesce(sum(completion_tokens), 0)::float8 as "completionTokens",
            case when count(cost_usd) = count(*) then sum(cost_usd::numeric)::float8 end as usd
       from model_calls where job_id = $1 group by purpose order by purpose`,
    [jobId],
  );
}

/** A candidate's runs that have ended: how many, the mean reward of those that succeeded, and what their own calls came to on average. */
export interface RunMeans extends Spending {
  id: string;
  avgReward: number | null;
}

/** Those of these candidates that were run, in no order. A judge's calls are not the graph's own. */
export async function readRunMeans(tx: Tx, jobId: string, candidateIds: readonly string[]): Promise<RunMeans[]> {
  return tx.query<RunMeans>(
    `select r.candidate_id as id,
            sum(${countedReward} order by r.ordinal) filter (where r.status = 'succeeded')
              / nullif(count(*) filter (where r.status = 'succeeded'), 0) as "avgReward",
            avg(c.calls)::float8 as calls, avg(c.prompt)::float8 as "promptTokens", avg(c.completion)::float8 as "completionTokens",
            case when sum(c.calls) > 0 and sum(c.unpriced) = 0 then avg(c.usd)::float8 end as usd
       from rollouts r
       cross join lateral (
         select count(*) as calls, coalesce(sum(prompt_tokens), 0) as prompt, coalesce(sum(completion_tokens), 0) as completion,
                coalesce(sum(cost_usd::numeric), 0) as usd, count(*) - count(cost_usd) as unpriced
           from model_calls where job_id = $1 and rollout_id = r.id and purpose = 'rollout'
       ) c
      where r.job_id = $1 and r.candidate_id = any($2) and r.source = 'service' and r.status in ('succeeded', 'failed')
      group by r.candidate_id`,
    [jobId, candidateIds],
  );
}

/** The graphs of the candidates after this lever version, in its order, at most `limit`. */
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
