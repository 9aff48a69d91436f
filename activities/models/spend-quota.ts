import { ApplicationFailure } from '@temporalio/common';
import type { RolloutOutcome } from '../../src/clients/container/client.js';
import type { ChatResult } from '../../src/clients/models/complete-chat.js';
import { spendQuotaExceeded } from '../../src/core/jobs/failures.js';
import { jobFailure, messageOf } from '../errors.js';

/** Ends the job if a quota of spend refused the call: it would refuse all others. */
export function requireWithinQuota(result: ChatResult): void {
  if (result.ok || result.code !== spendQuotaExceeded) return;
  throw jobFailure(spendQuotaExceeded, result.message, true);
}

/** The outcome of a rollout whose model call the quota refused; null: another error. */
export function outcomeOfQuota(error: unknown): RolloutOutcome | null {
  if (!(error instanceof ApplicationFailure) || error.type !== spendQuotaExceeded) return null;
  return { kind: 'quota_exceeded', code: spendQuotaExceeded, message: messageOf(error) };
}
