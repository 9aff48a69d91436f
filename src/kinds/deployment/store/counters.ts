import type { LatencyCounts } from '../../../core/math/latency-sketch.js';
import { isPeriod, periodMs, type Width } from '../../../core/deployments/periods.js';
import type { Tx } from '../../../platform/db/db.js';
import { toJsonb } from '../../../platform/db/json.js';

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
  /** Sum of the squares of these costs. */
  costSquares: number;
  /** Requests of unknown cost. */
  withoutCost: number;
  /** Of answered requests. */
  latencies: LatencyCounts;
  /** Errors by their code. */
  errorCodes: Record<string, number>;
  /** Tries of models by provider and model, and how many of them failed. */
  models: Record<string, ModelTries>;
}

export interface ModelTries {
  tries: number;
  failed: number;
}

/**
 * A process's totals of a deployment in a period. They only grow: `requests` orders two states.
 */
export interface DeploymentCounter extends RequestTotals {
  deploymentId: string;
  width: Width;
  /** ISO 8601; of `all` the epoch. */
  start: string;
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

/** A failed request. */
export interface Failure {
  deploymentId: string;
  answerId: string;
  /** ISO 8601. */
  at: string;
  status: number;
  code: string;
  message: string;
  latencyMs: number;
}

/** Failed requests of a deployment that are kept. */
export const keptFailures = 50;

export interface Counts {
  counters: readonly DeploymentCounter[];
  spend?: readonly SpendCounter[];
  episodes?: readonly EpisodeAnswer[];
  failures?: readonly Failure[];
}

/** Writes counts. A repeated or older state changes nothing. */
export async function writeCounters(
  tx: Tx,
  orgId: string,
  { counters, spend = [], episodes = [], failures = [] }: Counts,
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
     insert into deployment_counters as d (deployment_id, width, start, counter_id, org_id, requests, errors, aborted, prompt_tokens,
                                           completion_tokens, cost_usd, cost_squares, without_cost, latencies, error_codes, models)
     select "deploymentId", width, start, "counterId", $1, requests, errors, aborted, "promptTokens", "completionTokens", "costUsd",
            "costSquares", "withoutCost", latencies, "errorCodes", models
       from jsonb_to_recordset($2::jsonb) as c("deploymentId" text, width text, start timestamptz, "counterId" text, requests bigint,
              errors bigint, aborted bigint, "promptTokens" bigint, "completionTokens" bigint, "costUsd" float8, "costSquares" float8, "withoutCost" bigint,
              latencies jsonb, "errorCodes" jsonb, models jsonb)
      -- In order: a statement of a broken connection may still run, and must not deadlock with this one.
      order by "deploymentId", width, start, "counterId"
     on conflict (deployment_id, width, start, counter_id) do update
       set requests = excluded.requests, errors = excluded.errors, aborted = excluded.aborted, prompt_tokens = excluded.prompt_tokens,
           completion_tokens = excluded.completion_tokens, cost_usd = excluded.cost_usd, cost_squares = excluded.cost_squares, without_cost = excluded.without_cost,
           latencies = excluded.latencies, error_codes = excluded.error_codes, models = excluded.models, updated_at = now()
     where excluded.requests > d.requests`,
    [orgId, JSON.stringify(counters), JSON.stringify(spend), JSON.stringify(episodes)],
    'write_counters',
  );
  if (failures.length > 0) await writeFailures(tx, orgId, failures);
}

/** Stores failed requests, and drops all but the latest of each deployment. */
async function writeFailures(tx: Tx, orgId: string, failures: readonly Failure[]): Promise<void> {
  await tx.query(
    `insert into deployment_failures (deployment_id, answer_id, org_id, at, status, code, message, latency_ms)
     select "deploymentId", "answerId", $1, at, status, code, message, "latencyMs"
       from jsonb_to_recordset($2::jsonb) as c("deploymentId" text, "answerId" text, at timestamptz, status int, code text, message text,
              "latencyMs" float8)
      order by "deploymentId", at, "answerId"
     on conflict do nothing`,
    [orgId, toJsonb(failures)],
  );
  for (const id of new Set(failures.map(({ deploymentId }) => deploymentId))) {
    await tx.query(
      `delete from deployment_failures where deployment_id = $1 and (at, answer_id) < (
         select at, answer_id from deployment_failures where deployment_id = $1 order by at desc, answer_id desc offset $2 limit 1)`,
      [id, keptFailures - 1],
    );
  }
}

/** The latest failed requests of a deployment, newest first. */
export async function readFailures(tx: Tx, deploymentId: string): Promise<(Omit<Failure, 'at'> & { at: Date })[]> {
  return tx.query<Omit<Failure, 'at'> & { at: Date } & Record<string, unknown>>(
    `select deployment_id as "deploymentId", answer_id as "answerId", at, status, code, message, latency_ms as "latencyMs"
       from deployment_failures where deployment_id = $1 order by at desc, answer_id desc limit $2`,
    [deploymentId, keptFailures],
  );
}

export const noRequests = (): RequestTotals => ({
  requests: 0,
  errors: 0,
  aborted: 0,
  promptTokens: 0,
  completionTokens: 0,
  costUsd: 0,
  costSquares: 0,
  withoutCost: 0,
  latencies: {},
  errorCodes: {},
  models: {},
});

export interface PeriodTotals extends RequestTotals {
  deploymentId: string;
  start: Date;
}

/** Rows of periods that are read at once: a process has one for each deployment and period. */
const rowsAtOnce = 1_000;

/**
 * Totals of deployments by period, over all processes, in the order of time. `next`: where the
 * periods begin that were left out; null: none.
 */
export async function readPeriods(
  tx: Tx,
  deploymentIds: readonly string[],
  width: Width,
  { from, to }: { from: Date; to: Date },
): Promise<{ sums: PeriodTotals[]; next: Date | null }> {
  const rows = await tx.query<PeriodTotals & Record<string, unknown>>(
    `select deployment_id as "deploymentId", start, requests, errors, aborted, prompt_tokens as "promptTokens",
            completion_tokens as "completionTokens", cost_usd as "costUsd", cost_squares as "costSquares", without_cost as "withoutCost", latencies,
            error_codes as "errorCodes", models
       from deployment_counters where deployment_id = any($1) and width = $2 and start >= $3 and start < $4
      order by start, deployment_id limit $5`,
    [deploymentIds, width, from, to, isPeriod(width) ? rowsAtOnce + 1 : null],
  );
  const last = isPeriod(width) && rows.length > rowsAtOnce ? rows.at(-1)!.start : null;
  // The last period may be incomplete; one that fills the answer alone stays.
  const isCut = last !== null && +last > +rows[0]!.start;
  const next = last === null || !isPeriod(width) ? null : isCut ? last : new Date(+last + periodMs[width]);
  const sums: PeriodTotals[] = [];
  for (const row of isCut ? rows.filter(({ start }) => +start < +last) : rows) {
    const sum = sums.at(-1);
    if (sum?.deploymentId === row.deploymentId && +sum.start === +row.start) add(sum, row);
    else sums.push(row);
  }
  return { sums, next };
}

/** Adds totals to others, in place. */
function add(sum: RequestTotals, more: RequestTotals): void {
  for (const field of ['requests', 'errors', 'aborted', 'withoutCost', 'costUsd', 'costSquares'] as const)
    sum[field] += more[field];
  for (const field of ['promptTokens', 'completionTokens'] as const)
    sum[field] = Math.min(maxCounted, sum[field] + more[field]);
  addCounts(sum.latencies, more.latencies);
  addCounts(sum.errorCodes, more.errorCodes);
  for (const [name, tries] of Object.entries(more.models)) addTries(sum.models, name, tries);
}

function addCounts(sum: Record<string, number>, more: Record<string, number>): void {
  for (const [name, count] of Object.entries(more)) sum[name] = (Object.hasOwn(sum, name) ? sum[name]! : 0) + count;
}

/** Adds tries of a model, in place. */
export function addTries(sum: Record<string, ModelTries>, name: string, { tries, failed }: ModelTries): void {
  const known = Object.hasOwn(sum, name) ? sum[name]! : { tries: 0, failed: 0 };
  sum[name] = { tries: known.tries + tries, failed: known.failed + failed };
}
