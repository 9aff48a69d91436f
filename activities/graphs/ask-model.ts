import { completeChat } from '../../src/clients/models/complete-chat.js';
import type { GraphSpec, Message, PolicySpec } from '../../src/core/jobs/spec.js';
import type { ModelReply as StepSaid } from '../../src/core/graphs/run/drive.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import type { Claim } from '../../src/storage/rollouts/exchange.js';
import { databasePatienceMs, retryTransient } from '../../src/storage/db/patience.js';
import { answerId, recordAnswer, type ModelText } from '../../src/storage/rollouts/answers.js';
import { costReservation } from '../call-meter.js';
import type { ActivityDeps } from '../deps.js';

/** A run of a graph on a task under way, and the answers that an earlier runner of it had recorded. */
export interface GraphRollout {
  deps: ActivityDeps;
  job: JobRef;
  spec: GraphSpec;
  claim: Claim;
  recorded: ReadonlyMap<string, ModelText>;
  onPushback(because: string): void;
  /** As `ProposerRequest.onWait`. */
  onWait?(): () => void;
}

/** One call: `key` names it in its rollout, and `tries` counts how often it was made before. */
export interface ModelQuestion {
  asker: 'step' | 'judge';
  key: string;
  tries: number;
  policy: PolicySpec;
  messages: Message[];
  timeoutMs: number;
}

/** As a graph's driver takes it, with all that is recorded of the answer. */
export type ModelResult = ({ ok: true } & ModelText) | Extract<StepSaid, { ok: false }>;

/** A model's answer: the one that is recorded, else one that is bought, and recorded before it is used. */
export async function askModel(rollout: GraphRollout, asked: ModelQuestion, signal: AbortSignal): Promise<ModelResult> {
  const { deps, job, spec, claim } = rollout;
  const { rolloutId, candidateId, attempt } = claim;
  const { asker, key, tries, policy, messages, timeoutMs } = asked;
  const known = rollout.recorded.get(answerId({ rolloutId, key, tries }));
  if (known) return { ok: true, ...known };
  const meter = costReservation(deps, job, { budget: spec.budget, policy, rolloutId }, signal);
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
  // Paid for, so it is worth waiting for the database.
  const said = await retryTransient(
    () => deps.db.org(job.orgId, (tx) => recordAnswer(tx, index, purpose, policy, messages, answer)),
    {
      patienceMs: databasePatienceMs,
      onRetry: (err) => deps.log.warn({ err, rollout_id: rolloutId }, 'an answer is not recorded yet; trying again'),
    },
  );
  return { ok: true, ...said };
}
