import type { PolicySpec } from '../../core/jobs/policy.js';
import type { Message } from '../../core/prompts/message.js';
import type { Tx } from '../../platform/db/db.js';
import type { JobRef } from '../../jobs/store/events.js';
import {
  findServiceCalls,
  recordServiceCall,
  type ServiceAnswer,
  type ServiceCall,
} from '../../jobs/store/service-calls.js';

/** Identifies an answer of the proposer: the n-th for a candidate. */
export interface ProposalIndex extends JobRef {
  candidate: number;
  occurrence: number;
}

const callId = (index: ProposalIndex) => `prop_${index.jobId.slice(4)}_${index.candidate}_${index.occurrence}`;

/** Recorded answers by candidate and occurrence; null: not asked yet. */
export interface RecordedAnswers {
  get(candidate: number, occurrence: number): ServiceAnswer | null;
}

/** The recorded answers to the first `occurrences` questions about each candidate. */
export async function readRecordedAnswers(
  tx: Tx,
  jobId: string,
  asked: readonly { candidate: number; occurrences: number }[],
): Promise<RecordedAnswers> {
  const idOf = (candidate: number, occurrence: number) => callId({ orgId: '', jobId, candidate, occurrence });
  const ids = asked.flatMap(({ candidate, occurrences }) =>
    Array.from({ length: occurrences }, (_, occurrence) => idOf(candidate, occurrence)),
  );
  const answers = await findServiceCalls(tx, jobId, ids);
  return { get: (candidate, occurrence) => answers.get(idOf(candidate, occurrence)) ?? null };
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
export function recordProposerCall(
  tx: Tx,
  index: ProposalIndex,
  asked: { policy: PolicySpec; messages: Message[] },
  answered: { answer: ServiceCall['answer']; verdict: AnswerVerdict },
): Promise<void> {
  const { occurrence } = index;
  const call = { id: callId(index), purpose: 'proposer' as const, occurrence, ...asked, ...answered };
  return recordServiceCall(tx, index, call);
}
