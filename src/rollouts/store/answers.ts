import { answerIn, textOfContent, withoutThoughts } from '../../core/answers/completion.js';
import type { EndedAnswer } from '../../core/answers/ending.js';
import { splitThoughts } from '../../core/answers/thoughts.js';
import type { CacheScope } from '../../core/jobs/answer-cache.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import { takeCached, type AskedCall } from './answer-cache.js';
import { recordCall } from './call-records.js';
import { requestHash } from './request-hash.js';
import type { Tx } from '../../platform/db/db.js';
import type { JobRef } from '../../jobs/store/events.js';
import { storableText } from '../../util/text.js';

/** Identifies an answer in a rollout run by the service: try number `tries` of call `key`. */
export interface AnswerRef extends JobRef {
  rolloutId: string;
  candidateId: string | null;
  /** The claim of the rollout, and the process that sends the call. */
  attempt: number;
  presence: number;
  key: string;
  tries: number;
}

/** The id of the recorded answer; a repeated run of the rollout finds it. */
export function answerId({ rolloutId, key, tries }: Pick<AnswerRef, 'rolloutId' | 'key' | 'tries'>): string {
  return `call_${rolloutId.slice(4)}_${key}_${tries}`;
}

/** The graph step of a recorded answer; null: the judge. */
export function answerStep(id: string, rolloutId: string): string | null {
  const key = id.slice(answerId({ rolloutId, key: '', tries: 0 }).length - '_0'.length).replace(/_\d+$/, '');
  return key.startsWith('@') ? null : key.split('#', 1)[0]!;
}

/** A rollout's recorded answers by id. */
export async function readAnswers(tx: Tx, jobId: string, rolloutId: string): Promise<Map<string, EndedAnswer>> {
  const rows = await tx.query<{ id: string; response: unknown }>(
    'select id, response from model_calls where job_id = $1 and rollout_id = $2 and http_status < 300',
    [jobId, rolloutId],
    'read_answers_of_rollout',
  );
  return new Map(rows.map(({ id, response }) => [id, recordedAnswer(response)]));
}

/** The text of a recorded message's content, without thoughts. */
export function answerOfContent(content: unknown): string {
  return splitThoughts(textOfContent(content)).answer;
}

function recordedAnswer(completion: unknown): EndedAnswer {
  const { text, thoughts, refusal, finishReason } = withoutThoughts(answerIn(completion)!);
  return { text, thoughts, refusal, finishReason };
}

/** A call of the service, before its answer. `request`: as it is sent. */
export interface AskedModel {
  ref: AnswerRef;
  purpose: 'rollout' | 'judge';
  policy: PolicySpec;
  request: Record<string, unknown>;
}

function askedCall({ ref, purpose, policy, request }: AskedModel): AskedCall {
  const { orgId, jobId, rolloutId, candidateId, attempt, presence } = ref;
  const { provider, model } = policy;
  return {
    orgId,
    jobId,
    rolloutId,
    candidateId,
    attempt,
    presence,
    purpose,
    provider,
    model,
    request,
    id: answerId(ref),
    correlationId: rolloutId,
    requestHash: requestHash(provider, request),
    stream: false,
  };
}

/** Takes the answer from the organization's cache; null: call the model. See `takeCached`. */
export async function takeCachedAnswer(tx: Tx, scope: CacheScope, asked: AskedModel): Promise<EndedAnswer | null> {
  const found = await takeCached(tx, scope, askedCall(asked));
  return found && (await readRecorded(tx, answerId(asked.ref)));
}

/** Records an answer whole before its use. Returns the first recorded one of racing runners. */
export async function recordAnswer(
  tx: Tx,
  asked: AskedModel,
  answer: EndedAnswer & {
    promptTokens: number | null;
    completionTokens: number | null;
    costUsd: number | null;
    costSource: string;
    latencyMs: number;
  },
): Promise<EndedAnswer> {
  const { promptTokens, completionTokens, costUsd, costSource, latencyMs } = answer;
  const finishReason = answer.finishReason === null ? null : storableText(answer.finishReason);
  const message = {
    role: 'assistant',
    content: storableText(answer.text),
    ...(answer.thoughts !== null && { reasoning_content: storableText(answer.thoughts) }),
    ...(answer.refusal !== null && { refusal: storableText(answer.refusal) }),
  };
  const response = { choices: [{ index: 0, message, finish_reason: finishReason }] };
  const isFirst = await recordCall(tx, {
    ...askedCall(asked),
    response,
    httpStatus: 200,
    promptTokens,
    completionTokens,
    costUsd,
    costSource,
    latencyMs,
  });
  return isFirst ? recordedAnswer(response) : readRecorded(tx, answerId(asked.ref));
}

async function readRecorded(tx: Tx, id: string): Promise<EndedAnswer> {
  const [row] = await tx.query<{ response: unknown }>('select response from model_calls where id = $1', [id]);
  return recordedAnswer(row!.response);
}
