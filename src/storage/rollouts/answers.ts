import { createHash } from 'node:crypto';
import type { Message, PolicySpec } from '../../core/jobs/spec.js';
import { recordCall } from './call-records.js';
import type { Tx } from '../db/db.js';
import type { JobRef } from '../jobs/events.js';
import { toText } from '../db/json.js';

/** What a model said. */
export interface ModelText {
  text: string;
  finishReason: string | null;
}

/** Which answer of a rollout that the service runs itself: the `tries`-th to the call with this key. */
export interface AnswerPlace extends JobRef {
  rolloutId: string;
  candidateId: string | null;
  /** The claim under which it is asked for, and the process that asks. */
  attempt: number;
  presence: number;
  key: string;
  tries: number;
}

/** The id under which an answer is recorded: whoever runs the rollout again finds it there. */
export function answerId({ rolloutId, key, tries }: Pick<AnswerPlace, 'rolloutId' | 'key' | 'tries'>): string {
  return `call_${rolloutId.slice(4)}_${key}_${tries}`;
}

/** The step of a graph whose answer has this id; null: the judge's. */
export function stepOfAnswer(id: string, rolloutId: string): string | null {
  const key = id.slice(answerId({ rolloutId, key: '', tries: 0 }).length - '_0'.length).replace(/_\d+$/, '');
  return key.startsWith('@') ? null : key.split('#', 1)[0]!;
}

interface Completion {
  choices: { message: { content: string }; finish_reason: string | null }[];
}

/** The answers of a rollout that are recorded, by their ids. */
export async function readAnswersOf(tx: Tx, jobId: string, rolloutId: string): Promise<Map<string, ModelText>> {
  const rows = await tx.query<{ id: string; response: Completion }>(
    'select id, response from model_calls where job_id = $1 and rollout_id = $2 and http_status < 300',
    [jobId, rolloutId],
    'read_answers_of_rollout',
  );
  return new Map(rows.map(({ id, response }) => [id, textOf(response)]));
}

function textOf({ choices }: Completion): ModelText {
  const { message, finish_reason: finishReason } = choices[0]!;
  return { text: message.content, finishReason };
}

/** Records an answer before it is used. Gives what is on record then: of two runners that have asked for it, what the first was told. */
export async function recordAnswer(
  tx: Tx,
  index: AnswerPlace,
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
  const { orgId, jobId, rolloutId, candidateId, attempt, presence } = index;
  const { promptTokens, completionTokens, costUsd, costSource, latencyMs } = answer;
  const text = toText(answer.text);
  const finishReason = answer.finishReason === null ? null : toText(answer.finishReason);
  const message = { role: 'assistant', content: text };
  const id = answerId(index);
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
  return textOf(row!.response);
}
