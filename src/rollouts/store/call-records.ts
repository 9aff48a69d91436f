import type { Tx } from '../../platform/db/db.js';
import type { JobRef } from '../../jobs/store/events.js';
import { presenceLock } from '../../platform/db/notifications.js';
import { toJsonb } from '../../platform/db/json.js';
import { addUsage } from '../../jobs/store/usage.js';
import { storableText } from '../../util/text.js';

/** A model call to record. `served`: the rollout's attempt that receives the answer. */
export interface CallRecord extends JobRef {
  id: string;
  purpose: 'rollout' | 'caller' | 'judge';
  rolloutId: string;
  correlationId: string;
  candidateId: string | null;
  /** `requestHash` of the sent request. */
  requestHash: Buffer;
  attempt: number;
  /** The process that delivers the answer; see `Notifications.presence`. */
  presence: number;
  provider: string;
  model: string;
  request: unknown;
  response: unknown;
  stream: boolean;
  httpStatus: number;
  promptTokens: number | null;
  completionTokens: number | null;
  costUsd: number | null;
  costSource: string;
  latencyMs: number;
  /** The levers that the request marked; with texts if the baseline was not known. */
  levers?: { name: string; text?: string }[] | null;
  /** The call whose answer it got from the answer cache, and what that call cost. */
  cached?: { from: string; costUsd: number | null };
}

/** SQL of a call's cost at the model: that of the original for a cached answer. For comparisons. */
export function costAtModel(call: string): string {
  return `case when ${call}.cached_from is null then ${call}.cost_usd else ${call}.cached_cost_usd end`;
}

/** A recorded answer that is replayed. */
export interface RecordedAnswer {
  id: string;
  response: Record<string, unknown>;
  costUsd: number | null;
}

/**
 * Takes the next recorded answer to an identical request that this attempt has not received; null:
 * call the model. An answer delivered by a dead process may be lost and is taken again. `isRetry`:
 * the caller missed its answer, so one that did not arrive, else the last one given, is taken.
 */
export async function takeRecorded(
  tx: Tx,
  call: Pick<CallRecord, 'rolloutId' | 'requestHash' | 'attempt' | 'presence'> & { isRetry: boolean },
): Promise<RecordedAnswer | null> {
  const [row] = await tx.query<{ id: string; response: Record<string, unknown>; cost_usd: number | null }>(
    `update model_calls set served_attempt = $3, served_by = $4
      where id = (
        select id from model_calls
         where rollout_id = $1 and request_hash = $2 and purpose <> 'caller' and http_status < 300
           and (served_attempt < $3 or $6::boolean
                or (served_attempt = $3 and served_by <> $4
                    and not exists (select 1 from pg_locks
                                     where locktype = 'advisory' and classid = $5 and objid = served_by::oid and objsubid = 2)))
         order by case when not $6::boolean or served_attempt = 0 then 0 when served_attempt = $3 then 1 else 2 end,
                  case when $6::boolean and served_attempt = $3 then -occurrence else occurrence end
         limit 1 for update skip locked)
      returning id, response, cost_usd`,
    [call.rolloutId, call.requestHash, call.attempt, call.presence, presenceLock, call.isRetry],
  );
  return row ? { id: row.id, response: row.response, costUsd: row.cost_usd } : null;
}

/** Marks an answer as not delivered: a retry within the same attempt gets it again. */
export async function takeBack(tx: Tx, id: string, attempt: number): Promise<void> {
  await tx.query('update model_calls set served_attempt = 0 where id = $1 and served_attempt = $2', [id, attempt]);
}

/**
 * Records a call as the next occurrence of its request. False: the id is already recorded.
 * `writer`: see `addUsage`.
 */
export async function recordCall(tx: Tx, call: CallRecord, writer: number | null = null): Promise<boolean> {
  for (;;) {
    const rows = await tx.query(
      `with inserted as (
       insert into model_calls (id, org_id, job_id, purpose, rollout_id, correlation_id, candidate_id, request_hash,
                                occurrence, served_attempt, served_by, provider, model, request, response, stream, http_status,
                                prompt_tokens, completion_tokens, cost_usd, cost_source, latency_ms, levers, cached_from, cached_cost_usd)
       values ($1, $2, $3, $4, $5, $6, $7, $8,
              (select coalesce(max(occurrence) + 1, 0) from model_calls
                where rollout_id = $5 and request_hash = $8 and purpose <> 'caller' and http_status < 300),
              $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)
       on conflict do nothing returning *
       ), added as (${addUsage('$25::int')})
       select id from inserted`,
      [
        call.id,
        call.orgId,
        call.jobId,
        call.purpose,
        call.rolloutId,
        call.correlationId,
        call.candidateId,
        call.requestHash,
        call.attempt,
        call.presence,
        call.provider,
        storableText(call.model),
        toJsonb(call.request),
        toJsonb(call.response),
        call.stream,
        call.httpStatus,
        call.promptTokens,
        call.completionTokens,
        call.costUsd,
        call.costSource,
        call.latencyMs,
        call.levers ? toJsonb(call.levers) : null,
        call.cached?.from ?? null,
        call.cached?.costUsd ?? null,
        writer,
      ],
      'record_call',
    );
    if (rows.length > 0) return true;
    const [existing] = await tx.query('select 1 from model_calls where id = $1', [call.id]);
    if (existing) return false;
    // Another call took this occurrence between the count and the insert: count again.
  }
}
