import type { LatencyCounts } from '../../../core/math/latency-sketch.js';
import type { Tx } from '../../../platform/db/db.js';

/** Upper bound of summed tokens and dollars: a sum of two stays a safe integer. */
export const maxCounted = 2 ** 52 - 1;

/** Request totals. */
export interface RequestTotals {
  /** All requests, in any outcome. */
  requests: number;
  errors: number;
  /** The client disconnected early. */
  aborted: number;
  promptTokens: number;
  completionTokens: number;
  /** Sum over requests of known cost. */
  costUsd: number;
  /** Requests of unknown cost. */
  withoutCost: number;
  /** Of answered requests. */
  latencies: LatencyCounts;
}

/** A process's totals of a deployment. They only grow: `requests` orders two states. */
export interface DeploymentCounter extends RequestTotals {
  deploymentId: string;
  counterId: string;
}

/** What a key has spent at deployments on a UTC day, as one process knows it. It only grows. */
export interface SpendCounter {
  counterId: string;
  /** As in 2026-11-25. */
  day: string;
  keyId: string | null;
  costUsd: number;
}

/** An answer of an episode. */
export interface EpisodeAnswer {
  deploymentId: string;
  answerId: string;
  correlationId: string;
}

export interface Counts {
  counters: readonly DeploymentCounter[];
  spend?: readonly SpendCounter[];
  episodes?: readonly EpisodeAnswer[];
}

/** Writes counts in one statement. A repeated or older state changes nothing. */
export async function writeCounters(
  tx: Tx,
  orgId: string,
  { counters, spend = [], episodes = [] }: Counts,
): Promise<void> {
  await tx.query(
    `with spent as (
       insert into daily_spend as s (org_id, day, counter_id, key_id, cost_usd)
       select $1, day, "counterId", "keyId", "costUsd"
         from jsonb_to_recordset($3::jsonb) as c("counterId" uuid, day date, "keyId" text, "costUsd" float8)
        order by day, "counterId"
       on conflict (org_id, day, counter_id) do update set cost_usd = excluded.cost_usd
       where excluded.cost_usd > s.cost_usd
     ), episodes as (
       insert into episode_answers (org_id, correlation_id, answer_id, deployment_id)
       select $1, "correlationId", "answerId", "deploymentId"
         from jsonb_to_recordset($4::jsonb) as c("correlationId" text, "answerId" text, "deploymentId" text)
        order by "correlationId", "answerId"
       on conflict do nothing
     )
     insert into deployment_counters as d (deployment_id, counter_id, org_id, requests, errors, aborted, prompt_tokens, completion_tokens,
                                           cost_usd, without_cost, latencies)
     select "deploymentId", "counterId", $1, requests, errors, aborted, "promptTokens", "completionTokens", "costUsd", "withoutCost", latencies
       from jsonb_to_recordset($2::jsonb) as c("deploymentId" text, "counterId" text, requests bigint, errors bigint, aborted bigint,
              "promptTokens" bigint, "completionTokens" bigint, "costUsd" float8, "withoutCost" bigint, latencies jsonb)
      -- In order: a statement of a broken connection may still run, and must not deadlock with this one.
      order by "deploymentId"
     on conflict (deployment_id, counter_id) do update
       set requests = excluded.requests, errors = excluded.errors, aborted = excluded.aborted, prompt_tokens = excluded.prompt_tokens,
           completion_tokens = excluded.completion_tokens, cost_usd = excluded.cost_usd, without_cost = excluded.without_cost,
           latencies = excluded.latencies, updated_at = now()
     where excluded.requests > d.requests`,
    [orgId, JSON.stringify(counters), JSON.stringify(spend), JSON.stringify(episodes)],
    'write_counters',
  );
}

/** A deployment's totals over all processes. */
export async function readCounters(tx: Tx, deploymentId: string): Promise<RequestTotals> {
  const [row] = await tx.query<RequestTotals & Record<string, unknown>>(
    `with mine as (select * from deployment_counters where deployment_id = $1),
     buckets as (select bucket, sum(n::bigint) as n from mine, jsonb_each_text(latencies) as l(bucket, n) group by bucket)
     select coalesce(sum(requests), 0)::bigint as requests, coalesce(sum(errors), 0)::bigint as errors,
            coalesce(sum(aborted), 0)::bigint as aborted,
            least(coalesce(sum(prompt_tokens), 0), $2)::bigint as "promptTokens",
            least(coalesce(sum(completion_tokens), 0), $2)::bigint as "completionTokens",
            coalesce(sum(cost_usd), 0) as "costUsd", coalesce(sum(without_cost), 0)::bigint as "withoutCost",
            coalesce((select jsonb_object_agg(bucket, n) from buckets), '{}') as latencies
       from mine`,
    [deploymentId, maxCounted],
  );
  return row!;
}
