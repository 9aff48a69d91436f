import { createHash } from 'node:crypto';
import type { Message, PolicySpec } from '../../core/jobs/spec.js';
import { recordCall } from './call-records.js';
import type { Tx } from '../db/db.js';
import type { JobRef } from '../jobs/events.js';
import { storableText } from '../../util/text.js';

/** A model's answer. */
export interface ModelText {
  text: string;
  finishReason: string | null;
}

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

interface Completion {
  choices: { message: { content: string }; finish_reason: string | null }[];
}

/** A rollout's recorded answers by id. */
export async function readAnswers(tx: Tx, jobId: string, rolloutId: string): Promise<Map<string, ModelText>> {
  const rows = await tx.query<{ id: string; response: Completion }>(
    'select id, response from model_calls where job_id = $1 and rollout_id = $2 and http_status < 300',
    [jobId, rolloutId],
    'read_answers_of_rollout',
  );
  return new Map(rows.map(({ id, response }) => [id, toModelText(response)]));
}

function toModelText({ choices }: Completion): ModelText {
  const { message, finish_reason: finishReason } = choices[0]!;
  return { text: message.content, finishReason };
}

/** Records an answer before its use. Returns the first recorded one of racing runners. */
export async function recordAnswer(
  tx: Tx,
  ref: AnswerRef,
  purpose: 'rollout' | 'judge',
  { model, provider, params }: PolicySpec,
  messages: readonly Message[],
  answer: ModelText & {
    promptTokens: number | null;
    completionTokens: number | null;
    costUsd: number | null;
    costSource: string;
    latencyMs: number;
  },
): Promise<ModelText> {
  const request = { ...params, model, messages };
  const { orgId, jobId, rolloutId, candidateId, attempt, presence } = ref;
  const { promptTokens, completionTokens, costUsd, costSource, latencyMs } = answer;
  const text = storableText(answer.text);
  const finishReason = answer.finishReason === null ? null : storableText(answer.finishReason);
  const message = { role: 'assistant', content: text };
  const id = answerId(ref);
  const isFirst = await recordCall(tx, {
    ...{ orgId, jobId, rolloutId, candidateId, attempt, presence, purpose, provider, model, request },
    id,
    correlationId: rolloutId,
    requestHash: createHash('sha256').update(JSON.stringify({ provider, request })).digest(),
    response: { choices: [{ index: 0, message, finish_reason: finishReason }] },
    stream: false,
    httpStatus: 200,
    ...{ promptTokens, completionTokens, costUsd, costSource, latencyMs },
  });
  if (isFirst) return { text, finishReason };
  const [row] = await tx.query<{ response: Completion }>('select response from model_calls where id = $1', [id]);
  return toModelText(row!.response);
}
