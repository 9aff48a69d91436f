import { taskIdOf } from './task-id.js';
import { callerRolloutId } from './calls.js';
import type { Tx } from '../../platform/db/db.js';
import { hasSpan } from '../../jobs/store/traces.js';

/** A model call in a trace, with the unchanged request and response. */
export interface TraceCall extends Record<string, unknown> {
  rolloutId: string;
  callId: string;
  purpose: string;
  correlationId: string | null;
  provider: string;
  model: string;
  request: unknown;
  response: unknown;
  stream: boolean;
  httpStatus: number;
  promptTokens: number | null;
  completionTokens: number | null;
  costUsd: number | null;
  costSource: 'reported' | 'table' | 'unknown';
  latencyMs: number | null;
  cachedFrom: string | null;
  createdAt: Date;
}

/** A rollout in a trace; `bytes` estimates the size of its calls. */
export interface TraceHead extends Record<string, unknown> {
  rolloutId: string;
  idx: number;
  source: 'service' | 'caller';
  seed: number | null;
  taskId: string | null;
  stage: string | null;
  generation: number | null;
  candidateId: string | null;
  status: string;
  reward: number | null;
  feedback: string | null;
  details: unknown;
  error: { code: string; message: string } | null;
  resent: number;
  tries: number;
  hasSpan: boolean;
  latencyMs: number | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
  bytes: number;
}

const columns = `r.id as "rolloutId", r.idx, r.source, r.seed, ${taskIdOf} as "taskId", r.stage, r.generation, r.candidate_id as "candidateId", r.status,
  r.reward, r.feedback, r.details, r.error, r.resent, r.attempt as tries, ${hasSpan} as "hasSpan",
  r.latency_ms as "latencyMs", r.created_at as "createdAt",
  r.started_at as "startedAt", r.completed_at as "completedAt",
  (select coalesce(sum(pg_column_size(c.request) + coalesce(pg_column_size(c.response), 0)), 0)
     from model_calls c where c.job_id = r.job_id and c.rollout_id = r.id)::float8 as bytes`;

/** At most `limit` started rollouts after the id `after`, sorted by id bytewise. */
export async function readTraceHeads(tx: Tx, jobId: string, after: string, limit: number): Promise<TraceHead[]> {
  return tx.query<TraceHead>(
    `select ${columns} from rollouts r
      where r.job_id = $1 and r.id collate "C" > $2 and r.status <> 'queued'
        and (r.status <> 'cancelled' or r.started_at is not null)
      order by r.id collate "C" limit $3`,
    [jobId, after, limit],
  );
}

/** A rollout by trace id (its own id), or by correlation id of caller traffic. */
export async function readTraceHead(tx: Tx, jobId: string, traceId: string): Promise<TraceHead | null> {
  const [row] = await tx.query<TraceHead>(
    `select ${columns} from rollouts r where r.job_id = $1 and r.id = any($2) limit 1`,
    [jobId, [traceId, callerRolloutId(jobId, traceId)]],
  );
  return row ?? null;
}

/** The model calls of these rollouts, chronological within each. */
export async function readTraceCalls(tx: Tx, jobId: string, rolloutIds: string[]): Promise<TraceCall[]> {
  return tx.query<TraceCall>(
    `select rollout_id as "rolloutId", id as "callId", purpose, correlation_id as "correlationId", provider, model, request,
            response, stream, http_status as "httpStatus", prompt_tokens as "promptTokens",
            completion_tokens as "completionTokens", cost_usd as "costUsd", cost_source as "costSource",
            latency_ms as "latencyMs", cached_from as "cachedFrom",
            created_at as "createdAt"
       from model_calls where job_id = $1 and rollout_id = any($2) order by rollout_id, created_at, id`,
    [jobId, rolloutIds],
  );
}
