import type { EndedAnswer } from '../../src/core/answers/ending.js';
import { completeChat } from '../../src/models/client/complete-chat.js';
import type { ChatResult } from '../../src/models/client/chat.js';
import { answerTokens, boundCall } from '../../src/models/client/call-bound.js';
import type { TraceCall } from '../../src/models/client/traced-call.js';
import { cacheScope, type AnswerCache } from '../../src/core/jobs/answer-cache.js';
import type { BudgetSpec } from '../../src/core/jobs/spec.js';
import type { PolicySpec } from '../../src/core/jobs/policy.js';
import type { Message } from '../../src/core/prompts/message.js';
import type { Question } from '../../src/core/question.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { Claim } from '../../src/rollouts/store/exchange.js';
import { databasePatienceMs, retryTransient } from '../../src/platform/db/patience.js';
import { answerId, recordAnswer, takeCachedAnswer, type AskedModel } from '../../src/rollouts/store/answers.js';
import type { Tx } from '../../src/platform/db/db.js';
import { costReservation } from '../call-meter.js';
import type { ActivityDeps } from '../deps.js';
import { warnOfLeft } from './left-out.js';
import { requireAccount } from './refused-account.js';

/** A rollout whose models the service calls; `recorded`: answers of its earlier attempts. */
export interface ModelRollout {
  deps: ActivityDeps;
  job: JobRef;
  /** null: no budget. */
  budget: BudgetSpec | null;
  answerCache: AnswerCache | null;
  claim: Claim;
  recorded: ReadonlyMap<string, EndedAnswer>;
  /** null: calls are not traced. */
  trace: TraceCall | null;
  onPushback(reason: string): void;
  /** Called when a call waits to be sent; the result is called when it stops waiting. */
  onWait?(): () => void;
}

/** A model call; `key`: its name in the rollout, `tries`: its number of earlier tries. */
export interface ModelQuestion {
  asker: 'policy' | 'step' | 'judge';
  key: string;
  tries: number;
  policy: PolicySpec;
  messages: Message[];
  /** What the messages ask, as data. Absent: they are the caller's. */
  question?: Question;
  timeoutMs: number;
}

/** The recorded answer, or the failure. */
export type ModelResult = ({ ok: true } & EndedAnswer) | Extract<ChatResult, { ok: false }>;

/**
 * Returns the rollout's recorded answer, or one from the answer cache, or calls the model and
 * records its answer before use.
 */
export async function askModel(
  rollout: ModelRollout,
  question: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelResult> {
  const { deps, job, budget, claim } = rollout;
  const { rolloutId, candidateId, attempt } = claim;
  const { asker, key, tries, policy, messages, timeoutMs } = question;
  const known = rollout.recorded.get(answerId({ rolloutId, key, tries }));
  if (known) return { ok: true, ...known };
  const { presence } = deps.notifications;
  const asked: AskedModel = {
    ref: { ...job, rolloutId, candidateId, attempt, presence, key, tries },
    purpose: asker === 'judge' ? 'judge' : 'rollout',
    policy,
    request: requestOf(question, budget),
  };
  const store = <T>(work: (tx: Tx) => Promise<T>, onRetry: string): Promise<T> =>
    retryTransient(() => deps.db.org(job.orgId, work), {
      patienceMs: databasePatienceMs,
      onRetry: (err) => deps.log.warn({ err, rollout_id: rolloutId }, onRetry),
    });
  const scope = cacheScope(rollout.answerCache, asked.request);
  const cached = scope && (await store((tx) => takeCachedAnswer(tx, scope, asked), 'cache not read; retrying'));
  if (cached) return { ok: true, ...cached };
  const meter = budget && costReservation(deps, job, { budget, policy, rolloutId }, signal);
  const { onPushback, onWait } = rollout;
  const call = {
    asker,
    policy,
    messages,
    signal,
    meter,
    tryTimeoutMs: timeoutMs,
    onPushback,
    ...(onWait && { onWait }),
    ...(question.question && { question: question.question }),
  };
  const answer = await completeChat(deps.providers.forPayer(job, rollout.trace), call);
  requireAccount(answer, policy);
  if (!answer.ok) return answer;
  await warnOfLeft(deps, job, policy, answer.left);
  const sent = { ...asked, request: withoutFields(asked.request, answer.left) };
  // The call is paid for, so wait for the database.
  const recorded = await store((tx) => recordAnswer(tx, sent, answer), 'answer not recorded; retrying');
  return { ok: true, ...recorded };
}

/** What the model did not get did not shape its answer: no cache may give it for such a request. */
function withoutFields(request: AskedModel['request'], left: readonly string[]): AskedModel['request'] {
  if (left.length === 0) return request;
  return Object.fromEntries(Object.entries(request).filter(([name]) => !left.includes(name)));
}

/** The request as it is sent: a cost budget limits the answer. */
function requestOf({ policy, messages }: ModelQuestion, budget: BudgetSpec | null): AskedModel['request'] {
  const request = { ...policy.params, model: policy.model, messages };
  if (budget?.maxCostUsd == null) return request;
  const bounded = boundCall(policy.provider, request, answerTokens.rollout);
  return 'body' in bounded ? bounded.body : request;
}
