import { completeChat, type ChatResult } from '../../src/clients/models/complete-chat.js';
import type { BudgetSpec, Message, PolicySpec } from '../../src/core/jobs/spec.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import type { Claim } from '../../src/storage/rollouts/exchange.js';
import { databasePatienceMs, retryTransient } from '../../src/storage/db/patience.js';
import { answerId, recordAnswer, type ModelText } from '../../src/storage/rollouts/answers.js';
import { costReservation } from '../call-meter.js';
import type { ActivityDeps } from '../deps.js';

/** A rollout whose models the service calls; `recorded`: answers of its earlier attempts. */
export interface ModelRollout {
  deps: ActivityDeps;
  job: JobRef;
  /** null: no budget. */
  budget: BudgetSpec | null;
  claim: Claim;
  recorded: ReadonlyMap<string, ModelText>;
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
  timeoutMs: number;
}

/** The recorded answer, or the failure. */
export type ModelResult = ({ ok: true } & ModelText) | Extract<ChatResult, { ok: false }>;

/** Returns the recorded answer, or calls the model and records its answer before use. */
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
  };
  const answer = await completeChat(deps.providers, call);
  if (!answer.ok) return answer;
  const { presence } = deps.notifications;
  const index = { ...job, rolloutId, candidateId, attempt, presence, key, tries };
  const purpose = asker === 'judge' ? 'judge' : 'rollout';
  // The call is paid for, so wait for the database.
  const recorded = await retryTransient(
    () => deps.db.org(job.orgId, (tx) => recordAnswer(tx, index, purpose, policy, messages, answer)),
    {
      patienceMs: databasePatienceMs,
      onRetry: (err) => deps.log.warn({ err, rollout_id: rolloutId }, 'answer not recorded; retrying'),
    },
  );
  return { ok: true, ...recorded };
}
