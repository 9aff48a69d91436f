import { createHash } from 'node:crypto';
import type { PolicySpec } from '../../core/jobs/policy.js';
import type { Message } from '../../core/prompts/message.js';
import type { Tx } from '../../platform/db/db.js';
import { toJsonb } from '../../platform/db/json.js';
import type { JobRef } from './events.js';
import { addUsage } from './usage.js';

/** A model call that the service made for a job outside of its rollouts, with its answer. */
export interface ServiceCall {
  /** Stable over retries: a recorded answer is found by it and not bought again. */
  id: string;
  purpose: 'proposer' | 'preflight';
  /** The number among the answers of one candidate, or of the preflight. */
  occurrence: number;
  policy: PolicySpec;
  messages: Message[];
  answer: ServiceAnswer & {
    promptTokens: number | null;
    completionTokens: number | null;
    costUsd: number | null;
    costSource: string;
    latencyMs: number;
  };
  verdict?: object;
}

export interface ServiceAnswer {
  text: string;
  finishReason: string | null;
}

/** The recorded answers by the ids of their calls. */
export async function findServiceCalls(
  tx: Tx,
  jobId: string,
  ids: readonly string[],
): Promise<Map<string, ServiceAnswer>> {
  const rows = await tx.query<{ id: string; response: ServiceAnswer }>(
    'select id, response from model_calls where id = any($1) and job_id = $2',
    [ids, jobId],
    'find_service_calls',
  );
  return new Map(rows.map(({ id, response }) => [id, response]));
}

/** Records an answer before it is used, and adds it to the job's usage. Idempotent. */
export async function recordServiceCall(
  tx: Tx,
  { orgId, jobId }: JobRef,
  { id, purpose, occurrence, policy, messages, answer, verdict }: ServiceCall,
): Promise<void> {
  const request = { model: policy.model, messages };
  await tx.query(
    `with inserted as (
       insert into model_calls (id, org_id, job_id, purpose, request_hash, occurrence, provider, model, request, response,
                                verdict, http_status, prompt_tokens, completion_tokens, cost_usd, cost_source, latency_ms)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 200, $12, $13, $14, $15, $16)
       on conflict (id) do nothing returning *
     )
     ${addUsage()}`,
    [
      id,
      orgId,
      jobId,
      purpose,
      createHash('sha256').update(JSON.stringify(request)).digest(),
      occurrence,
      policy.provider,
      policy.model,
      toJsonb(request),
      toJsonb({ text: answer.text, finishReason: answer.finishReason }),
      verdict ? toJsonb(verdict) : null,
      answer.promptTokens,
      answer.completionTokens,
      answer.costUsd,
      answer.costSource,
      answer.latencyMs,
    ],
    'record_service_call',
  );
}
