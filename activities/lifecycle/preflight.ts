import { limitName } from '../../src/models/client/call-bound.js';
import { callFailure, refusalOf } from '../../src/models/client/call-failure.js';
import { providerRefusedAccount, providerRefusedKey } from '../../src/models/client/refusals.js';
import { completeChat } from '../../src/models/client/complete-chat.js';
import type { ChatResult } from '../../src/models/client/chat.js';
import { budgetOf, type JobSpec } from '../../src/core/jobs/spec.js';
import type { Message } from '../../src/core/prompts/message.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { findServiceCalls, recordServiceCall } from '../../src/jobs/store/service-calls.js';
import { readTrace } from '../../src/jobs/store/traces.js';
import { databasePatienceMs, retryTransient } from '../../src/platform/db/patience.js';
import { jobSpan } from '../../src/tracing/spans.js';
import { costReservation } from '../call-meter.js';
import type { ActivityDeps } from '../deps.js';
import { jobFailure } from '../errors.js';
import { requireAccount } from '../models/refused-account.js';
import type { CheckedModel } from './kind.js';
import { activitiesOf } from './kinds.js';

const messages: Message[] = [{ role: 'user', content: 'Reply with OK.' }];
/** Some models refuse a limit below 16. */
const answerTokens = 16;
const tryTimeoutMs = 15_000;
/** A slow or busy provider delays the first rollout by at most this long. */
const windowMs = 45_000;

/** Failures that every later call to the model would have. */
const lastingCodes = new Set([
  providerRefusedKey,
  providerRefusedAccount,
  'provider_not_usable',
  'upstream_unreachable',
  'cost_not_bounded',
]);

/**
 * Calls the policy and the proposer once each. Fails the job if the provider cannot be reached or
 * refuses the key or the model; other failures are left to the rollouts. A retry finds the answers.
 */
export async function checkModels(deps: ActivityDeps, job: JobRef, spec: JobSpec, signal: AbortSignal): Promise<void> {
  if (!spec.preflight) return;
  const results = await Promise.all(
    modelsOf(spec).map(async (model, occurrence) => {
      const result = await callModel(deps, job, spec, { model: model.policy, occurrence }, signal);
      return result && lastingFailure(model, result);
    }),
  );
  const failure = results.find((found) => found !== null);
  if (failure) throw failure;
}

/** The models that a provider answers for, each once. */
function modelsOf(spec: JobSpec): CheckedModel[] {
  const models = activitiesOf(spec).models(spec);
  const isRepeated = ({ policy: { provider, model } }: CheckedModel, index: number) =>
    models.slice(0, index).some((other) => other.policy.provider === provider && other.policy.model === model);
  return models.filter((model, index) => model.policy.provider !== 'local' && !isRepeated(model, index));
}

/** Calls the model and records its answer; null: an earlier attempt has. */
async function callModel(
  deps: ActivityDeps,
  job: JobRef,
  spec: JobSpec,
  { model, occurrence }: { model: CheckedModel['policy']; occurrence: number },
  signal: AbortSignal,
): Promise<ChatResult | null> {
  const id = `pre_${job.jobId}_${occurrence}`;
  const [known, trace] = await deps.db.org(job.orgId, (tx) =>
    Promise.all([findServiceCalls(tx, job.jobId, [id]), deps.tracing ? readTrace(tx, job.jobId) : null]),
  );
  if (known.size > 0) return null;
  const { provider, model: name } = model;
  // Only what every model takes: a field of the policy must not decide whether its key is accepted.
  const policy = { provider, model: name, params: { [limitName]: answerTokens } };
  const meter = costReservation(deps, job, { budget: budgetOf(spec), policy, rolloutId: null }, signal);
  const deadline = performance.now() + windowMs;
  const calls = deps.tracing?.callsOf(trace && jobSpan(trace)) ?? null;
  const answer = await completeChat(deps.providers.forPayer(job, calls), {
    asker: 'preflight',
    policy,
    messages,
    signal,
    meter,
    deadline,
    tryTimeoutMs,
  });
  requireAccount(answer, policy);
  if (!answer.ok) return answer;
  const call = { id, purpose: 'preflight' as const, occurrence, policy, messages, answer };
  // The call is paid for, so wait for the database.
  await retryTransient(() => deps.db.org(job.orgId, (tx) => recordServiceCall(tx, job, call)), {
    patienceMs: databasePatienceMs,
    onRetry: (err) => deps.log.warn({ err, job_id: job.jobId }, 'preflight not recorded; retrying'),
  });
  return answer;
}

/** The failure that ends the job, or null. */
function lastingFailure({ policy, field }: CheckedModel, result: ChatResult) {
  if (result.ok) return null;
  const { code, message, refused, unsent = null } = result;
  if (!lastingCodes.has(code) && !(refused && (refused.status === 403 || refused.scope === 'model'))) return null;
  const failure = callFailure({
    provider: policy.provider,
    model: policy.model,
    field,
    ...(refused ? refusalOf(refused) : { status: 0, code, message, unsent }),
  });
  return jobFailure(failure.code, failure.message, code === 'upstream_unreachable');
}
