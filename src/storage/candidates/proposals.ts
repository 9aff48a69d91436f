import { createHash } from 'node:crypto';
import type { Message, PolicySpec } from '../../core/jobs/spec.js';
import type { Tx } from '../db/db.js';
import type { JobRef } from '../jobs/events.js';
import { toJsonb } from '../db/json.js';
import { addUsage } from '../jobs/usage.js';

/** Identifies an answer of the proposer: the n-th for a candidate. */
export interface ProposalIndex extends JobRef {
  candidate: number;
  occurrence: number;
}

const callId = (index: ProposalIndex) => `prop_${index.jobId.slice(4)}_${index.candidate}_${index.occurrence}`;

/** The recorded answer; null: not requested yet. */
export async function findProposerCall(
  tx: Tx,
  index: ProposalIndex,
): Promise<{ text: string; finishReason: string | null } | null> {
  const [row] = await tx.query<{ response: { text: string; finishReason: string | null } }>(
    'select response from model_calls where id = $1 and job_id = $2',
    [callId(index), index.jobId],
  );
  return row?.response ?? null;
}

/** Whether an answer of the proposer was accepted as the text of a component. */
export interface AnswerVerdict {
  /** Null: the structure of a graph, or a description of the task. */
  component: string | null;
  /** From 0 for each component. */
  attempt: number;
  accepted: boolean;
  /** Why it was refused. */
  reason: string | null;
}

/** A request to the proposer, its answer and the verdict on it. */
export interface ProposerAttempt extends Record<string, unknown> {
  verdict: AnswerVerdict;
  provider: string;
  model: string;
  messages: Message[];
  text: string;
  finishReason: string | null;
  promptTokens: number | null;
  completionTokens: number | null;
  costUsd: number | null;
  createdAt: Date;
}

/** The proposer's answers for a candidate in order; `most`: at least as many as there are. */
export async function readProposerAttempts(
  tx: Tx,
  jobId: string,
  candidate: number,
  most: number,
): Promise<ProposerAttempt[]> {
  const indexes = Array.from({ length: most }, (_, occurrence) => ({ orgId: '', jobId, candidate, occurrence }));
  return tx.query<ProposerAttempt>(
    `select verdict, provider, model, request->'messages' as messages, response->>'text' as text,
            response->>'finishReason' as "finishReason", prompt_tokens as "promptTokens",
            completion_tokens as "completionTokens", cost_usd as "costUsd", created_at as "createdAt"
       from model_calls where job_id = $1 and id = any($2) order by occurrence`,
    [jobId, indexes.map(callId)],
  );
}

/** Records an answer of the proposer, with the verdict on it, before it is used. */
export async function recordProposerCall(
  tx: Tx,
  index: ProposalIndex,
  policy: PolicySpec,
  messages: Message[],
  call: {
    text: string;
    finishReason: string | null;
    promptTokens: number | null;
    completionTokens: number | null;
    costUsd: number | null;
    costSource: string;
    latencyMs: number;
  },
  verdict: AnswerVerdict,
): Promise<void> {
  const request = { model: policy.model, messages };
  await tx.query(
    `with inserted as (
       insert into model_calls (id, org_id, job_id, purpose, request_hash, occurrence, provider, model, request, response,
                                verdict, http_status, prompt_tokens, completion_tokens, cost_usd, cost_source, latency_ms)
       values ($1, $2, $3, 'proposer', $4, $5, $6, $7, $8, $9, $10, 200, $11, $12, $13, $14, $15)
       on conflict (id) do nothing returning *
     )
     ${addUsage}`,
    [
      callId(index),
      index.orgId,
      index.jobId,
      createHash('sha256').update(JSON.stringify(request)).digest(),
      index.occurrence,
      policy.provider,
      policy.model,
      toJsonb(request),
      toJsonb({ text: call.text, finishReason: call.finishReason }),
      toJsonb(verdict),
      call.promptTokens,
      call.completionTokens,
      call.costUsd,
      call.costSource,
      call.latencyMs,
    ],
  );
}
