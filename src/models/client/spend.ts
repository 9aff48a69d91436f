import type { Payer } from '../../core/jobs/payer.js';
import { unknownPrice } from './call-bound.js';
import { ProviderError } from './answers/provider-answer.js';

/** Whether a quota of spend holds for a call, and the one that is used up. */
export interface SpendCheck {
  isLimited: boolean;
  spent: { subject: string; limit: number; used: number; secondsLeft: number } | null;
}

/**
 * Refuses a call whose payer has spent its quota of the day. Fails closed: also where the spend
 * cannot be read, or where a model has no known price and so adds nothing to it.
 */
export async function requireQuota(
  checkSpend: (payer: Payer) => Promise<SpendCheck>,
  payer: Payer,
  call: { provider: string; model: string },
): Promise<void> {
  const { isLimited, spent } = await checkSpend(payer).catch((cause: unknown) => {
    const message = 'The spend of the day cannot be read, and a quota may be used up; retry.';
    throw new ProviderError('spend_unknown', message, cause, { retryAfterS: 1 });
  });
  if (spent) {
    const of = spent.subject === payer.orgId ? 'organization' : 'key';
    const message = `The ${of} has spent $${spent.used.toFixed(4)} of model calls today (UTC), and spend_usd_per_day is $${spent.limit}; raise it, or wait for the next day.`;
    const retryAfterS = Math.max(1, Math.ceil(spent.secondsLeft));
    throw new ProviderError('spend_quota_exceeded', message, undefined, { retryAfterS });
  }
  const unbounded = isLimited ? unknownPrice(call) : null;
  if (unbounded !== null) {
    throw new ProviderError('cost_not_bounded', `A quota of spend holds for this call, and ${unbounded}.`);
  }
}
