/** Requests of deployments with their texts, for as long as a deployment keeps them. */
import { requestShard } from '../../../jobs/store/usage.js';
import { readReviewsOf, type Review } from '../../../reviews/store/reviews.js';
import { reviewKeyPrefix } from '../contract/feedback.js';
import { settingsOf } from './resolve.js';
import type { Tx } from '../../../platform/db/db.js';
import { positionColumn, type Position } from '../../../platform/db/positions.js';

/** A request whose texts are kept. */
export interface LoggedRequest {
  deploymentId: string;
  answerId: string;
  /** ISO 8601. */
  at: string;
  outcome: 'ok' | 'error' | 'aborted';
  /** Of an error. */
  code: string | null;
  provider: string;
  model: string;
  latencyMs: number;
  promptTokens: number | null;
  completionTokens: number | null;
  costUsd: number | null;
  correlationId: string | null;
  /** JSON texts; null: too long. */
  request: string | null;
  answer: string | null;
}

/** Stores requests once, and adds their bytes to what the organization stores. */
export async function insertRequests(tx: Tx, orgId: string, requests: readonly LoggedRequest[]): Promise<void> {
  const column = <Field extends keyof LoggedRequest>(field: Field) => requests.map((request) => request[field]);
  await tx.query(
    `with inserted as (
       insert into deployment_requests (org_id, deployment_id, name, answer_id, at, outcome, code, provider, model, latency_ms,
              prompt_tokens, completion_tokens, cost_usd, correlation_id, request, answer)
       select $1, r.deployment_id, d.name, answer_id, at, outcome, code, provider, model, latency_ms, prompt_tokens, completion_tokens,
              cost_usd, correlation_id, request, answer
         from unnest($2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[], $9::float8[],
                $10::bigint[], $11::bigint[], $12::float8[], $13::text[], $14::text[], $15::text[])
              as r(deployment_id, answer_id, at, outcome, code, provider, model, latency_ms, prompt_tokens, completion_tokens, cost_usd,
                   correlation_id, request, answer)
              join deployments d on d.id = r.deployment_id
        order by r.deployment_id, at, answer_id
       on conflict do nothing returning deployment_id, ${bytes} as bytes)
     ${addBytes}`,
    [
      orgId,
      ...[column('deploymentId'), column('answerId'), column('at'), column('outcome'), column('code')],
      ...[column('provider'), column('model'), column('latencyMs'), column('promptTokens'), column('completionTokens')],
      ...[column('costUsd'), column('correlationId'), column('request'), column('answer')],
    ],
    'insert_requests',
  );
}

const bytes = `coalesce(octet_length(request), 0) + coalesce(octet_length(answer), 0)`;

/** SQL that adds `bytes` of the step `inserted` to the usage of its deployments. */
const addBytes = `insert into job_usage as u (job_id, org_id, shard, calls, prompt_tokens, completion_tokens, cost_usd, unpriced, from_table,
                                   answered, cached, bytes)
  select j.id, j.org_id, ${requestShard}, 0, 0, 0, 0, 0, 0, 0, 0, sum(i.bytes)
    from inserted i join jobs j on j.id = i.deployment_id group by j.id, j.org_id order by j.id
  on conflict (job_id, shard, day) do update set bytes = u.bytes + excluded.bytes`;

/** Deletes some requests of a deployment that came before a time. Returns how many. */
export async function deleteRequests(tx: Tx, deploymentId: string, before: Date, most: number): Promise<number> {
  return deleteWhere(tx, 'deployment_id = $1 and at < $2 limit $3', [deploymentId, before, most]);
}

/** Deployments with texts, and for how long each keeps them; 0: no longer. */
export async function readDeploymentsWithTexts(tx: Tx): Promise<{ id: string; keepDays: number }[]> {
  return tx.query<{ id: string; keepDays: number }>(
    `select d.id, case when d.deleted_at is null then coalesce((${settingsOf('d')}->'log'->>'keep_days')::int, 0) else 0 end as "keepDays"
       from deployments d where d.org_id = current_setting('app.org')
        and exists (select 1 from deployment_requests r where r.deployment_id = d.id)`,
  );
}

/** Deletes the texts of an answer of a name, with its reviews. Returns whether there were any. */
export async function deleteRequest(
  tx: Tx,
  name: string,
  { deploymentId, answerId, at }: RequestKey,
): Promise<boolean> {
  const where = `deployment_id = $1 and answer_id = $2 and name = $3 and at between $4 and $5`;
  const values = [deploymentId, answerId, name, ...around(at)];
  return (await deleteWhere(tx, where, values)) > 0;
}

async function deleteWhere(tx: Tx, where: string, values: unknown[]): Promise<number> {
  const [row] = await tx.query<{ deleted: number }>(
    `with gone as (delete from deployment_requests where ctid = any(array(select ctid from deployment_requests where ${where}))
       returning deployment_id, answer_id, ${bytes} as bytes),
     reviewed as (delete from reviews v using gone g where v.job_id = g.deployment_id and v.subject_id = g.answer_id),
     inserted as (select deployment_id, -bytes as bytes from gone),
     counted as (${addBytes})
     select count(*)::int as deleted from gone`,
    values,
  );
  return row!.deleted;
}

/** An answer, by what its signed id says. */
export interface RequestKey {
  deploymentId: string;
  answerId: string;
  /** About when it was asked for. */
  at: Date;
}

/** The longest time between the issue of an id and the end of its answer. */
const longestMs = 86_400_000;
const around = (at: Date) => [new Date(+at - 60_000), new Date(+at + longestMs)];

/** Which requests are meant; a field that is absent excludes none. */
export interface RequestFilter {
  from?: Date | undefined;
  to?: Date | undefined;
  outcome?: LoggedRequest['outcome'] | undefined;
  code?: string | undefined;
  correlationId?: string | undefined;
  minReward?: number | undefined;
  maxReward?: number | undefined;
  feedback?: 'any' | 'none' | 'corrected' | undefined;
  /** A part of a text, as JSON without its quotes; the case of its letters is ignored. */
  text?: string | undefined;
}

/** The requests of a deployment, or of all deployments of a name. */
export type RequestScope = { deploymentId: string } | { name: string };

/** SQL of what was reported of a request `r`: of its answer first, then of its episode. */
const reported = `lateral (
  select (array_agg(f.content->'reward' order by f.answer_id is null, f.created_at, f.id) filter (where f.content ? 'reward'))[1] as reward,
         (array_agg(f.content->>'corrected' order by f.answer_id is null, f.created_at desc, f.id desc)
           filter (where f.content ? 'corrected'))[1] as corrected,
         coalesce(bool_and((f.content->'reward')::boolean)
           filter (where starts_with(f.key, '${reviewKeyPrefix}') and f.content ? 'reward'), false) as is_right,
         count(*)::int as reports
    from (select content, key, answer_id, created_at, id from deployment_feedback
           where org_id = r.org_id and name = r.name and answer_id = r.answer_id
          union all
          select content, key, answer_id, created_at, id from deployment_feedback
           where org_id = r.org_id and name = r.name and correlation_id = r.correlation_id and answer_id is null) f) f`;

/** SQL of a reward as a number. */
const reward = `case jsonb_typeof(f.reward) when 'boolean' then (f.reward)::boolean::int::float8 else (f.reward)::float8 end`;

const position = positionColumn.replace('created_at', 'r.at');

/** A request that a scan has looked at. */
export interface ScannedRequest extends Record<string, unknown> {
  deploymentId: string;
  answerId: string;
  at: Date;
  bytes: number;
  isWanted: boolean;
  position: string;
}

/** The next requests before a position, newest first, at most `most`. */
export async function scanRequests(
  tx: Tx,
  scope: RequestScope,
  filter: RequestFilter,
  { after, most }: { after: Position | undefined; most: number },
): Promise<ScannedRequest[]> {
  const values: unknown[] = [];
  const value = (one: unknown) => `$${values.push(one)}`;
  const bounds = [
    'name' in scope
      ? `org_id = current_setting('app.org') and name = ${value(scope.name)}`
      : `deployment_id = ${value(scope.deploymentId)}`,
  ];
  if (filter.from) bounds.push(`at >= ${value(filter.from)}`);
  if (filter.to) bounds.push(`at < ${value(filter.to)}`);
  if (after) bounds.push(`(at, answer_id) < (${value(after.createdAt)}::timestamptz, ${value(after.id)})`);
  const wanted = wantedBy(filter, value);
  return tx.query<ScannedRequest>(
    `select r.deployment_id as "deploymentId", r.answer_id as "answerId", r.at, ${bytes} as bytes, ${position},
            ${wanted.length === 0 ? 'true' : wanted.join(' and ')} as "isWanted"
       from (select * from deployment_requests where ${bounds.join(' and ')} order by at desc, answer_id desc limit ${value(most)}) r
            cross join ${reported}
      order by r.at desc, r.answer_id desc`,
    values,
  );
}

function wantedBy(filter: RequestFilter, value: (one: unknown) => string): string[] {
  const { outcome, code, correlationId, minReward, maxReward, feedback, text } = filter;
  const byFeedback = { any: 'f.reports > 0', none: 'f.reports = 0', corrected: 'f.corrected is not null' };
  return [
    ...(outcome === undefined ? [] : [`r.outcome = ${value(outcome)}`]),
    ...(code === undefined ? [] : [`coalesce(r.code = ${value(code)}, false)`]),
    ...(correlationId === undefined ? [] : [`coalesce(r.correlation_id = ${value(correlationId)}, false)`]),
    ...(minReward === undefined ? [] : [`coalesce(${reward} >= ${value(minReward)}, false)`]),
    ...(maxReward === undefined ? [] : [`coalesce(${reward} <= ${value(maxReward)}, false)`]),
    ...(feedback === undefined ? [] : [byFeedback[feedback]]),
    ...(text === undefined
      ? []
      : [`position(lower(${value(text)}) in lower(coalesce(r.request, '') || ' ' || coalesce(r.answer, ''))) > 0`]),
  ];
}

/** A request with what was reported of its answer, or of its episode. */
interface ReportedRequest extends Omit<LoggedRequest, 'at'>, Record<string, unknown> {
  at: Date;
  /** The first reward that was reported; null: none. */
  reward: number | boolean | null;
  /** The latest corrected answer; null: none. */
  corrected: string | null;
  /** Whether people reviewed it, and all called it right. */
  isRight: boolean;
  /** Reports of the answer and of its episode. */
  reports: number;
}

export interface StoredRequest extends ReportedRequest {
  /** What people say of the answer, oldest first. */
  reviews: Review[];
}

/**
 * Requests by their keys, newest first; those that are deleted meanwhile are left out. The limit
 * keeps each a look-up: joined, the keys of a page would read the whole table while it is small.
 */
export async function readRequests(tx: Tx, keys: readonly RequestKey[]): Promise<StoredRequest[]> {
  const rows = await tx.query<ReportedRequest>(
    `select r.deployment_id as "deploymentId", r.answer_id as "answerId", r.at, r.outcome, r.code, r.provider, r.model,
            r.latency_ms as "latencyMs", r.prompt_tokens as "promptTokens", r.completion_tokens as "completionTokens",
            r.cost_usd as "costUsd", r.correlation_id as "correlationId", r.request, r.answer, f.reward, f.corrected, f.is_right as "isRight", f.reports
       from unnest($1::text[], $2::text[], $3::timestamptz[]) as k(deployment_id, answer_id, at)
            cross join lateral (
              select * from deployment_requests d
               where d.deployment_id = k.deployment_id and d.answer_id = k.answer_id and d.at = k.at limit 1) r
            cross join ${reported}
      order by r.at desc, r.answer_id desc`,
    [keys.map(({ deploymentId }) => deploymentId), keys.map(({ answerId }) => answerId), keys.map(({ at }) => at)],
  );
  const reviews = await readReviewsOf(tx, keys);
  return rows.map((row) => ({ ...row, reviews: reviews.get(row.answerId) ?? [] }));
}

/** A request of a name; null: its texts were not kept, or are deleted. */
export async function readRequest(tx: Tx, name: string, key: RequestKey): Promise<StoredRequest | null> {
  const [row] = await readRequests(tx, await readKeys(tx, name, key));
  return row ?? null;
}

/** Whether the texts of an answer of a name are kept. */
export async function hasRequest(tx: Tx, name: string, key: RequestKey): Promise<boolean> {
  return (await readKeys(tx, name, key)).length > 0;
}

async function readKeys(tx: Tx, name: string, { deploymentId, answerId, at }: RequestKey): Promise<RequestKey[]> {
  const keys = await tx.query<{ at: Date }>(
    'select at from deployment_requests where deployment_id = $1 and answer_id = $2 and name = $3 and at between $4 and $5',
    [deploymentId, answerId, name, ...around(at)],
  );
  return keys.map((key) => ({ deploymentId, answerId, at: key.at }));
}
