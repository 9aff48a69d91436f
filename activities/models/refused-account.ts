import { ApplicationFailure } from '@temporalio/common';
import type { RolloutOutcome } from '../../src/clients/container/client.js';
import { callFailure, refusalOf } from '../../src/models/client/call-failure.js';
import type { ChatResult } from '../../src/models/client/chat.js';
import { isFinalForAccount, providerRefusedKey } from '../../src/models/client/refusals.js';
import { spendQuotaExceeded } from '../../src/core/jobs/failures.js';
import type { PolicySpec } from '../../src/core/jobs/policy.js';
import { jobFailure, messageOf } from '../errors.js';

/** Ends the job if every other call would be refused: by a quota, or for the key or the account. */
export function requireAccount(result: ChatResult, policy: Pick<PolicySpec, 'provider' | 'model'>): void {
  if (result.ok) return;
  const { code, message, refused } = result;
  if (code === spendQuotaExceeded) throw jobFailure(spendQuotaExceeded, message, true);
  if (!isFinalForAccount(code)) return;
  const { provider, model } = policy;
  const isKey = code === providerRefusedKey || !refused;
  const call = isKey ? { status: refused?.status ?? 401, code, message } : refusalOf(refused);
  const failure = callFailure({ provider, model, ...call });
  throw jobFailure(failure.code, failure.message, false);
}

/** The outcome of a rollout whose model call ended the job; null: another error. */
export function outcomeOfRefusal(error: unknown): RolloutOutcome | null {
  if (!(error instanceof ApplicationFailure) || typeof error.type !== 'string') return null;
  const message = messageOf(error);
  if (error.type === spendQuotaExceeded) return { kind: 'quota_exceeded', code: spendQuotaExceeded, message };
  return isFinalForAccount(error.type) ? { kind: 'refused_key', code: error.type, message } : null;
}
