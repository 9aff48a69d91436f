/** What a try of a model call says of its provider. */
import { badKey, closedAccount, noCredit } from './answers/error-codes.js';
import { isSpendRefusal } from './answers/provider-answer.js';

/** `failed`: through no fault of the request. `error`: the status, or the name of the fault. */
export type TryOutcome = { is: 'ok' } | { is: 'throttled' | 'failed' | 'refused'; error: string };

/** Limits of rate (429, 498) and of capacity (529). */
const throttled: ReadonlySet<number> = new Set([429, 498, 529]);
/** Those of key, account, model and time. */
const ofProvider: ReadonlySet<number> = new Set([401, 402, 403, 404, 408]);
const ofAccount = [noCredit, closedAccount, badKey];

/** The code of a try that its caller or its job ended. */
export const endedByUs = 'aborted';
const notOfProvider: ReadonlySet<string> = new Set([endedByUs, 'provider_not_usable', 'over_capacity']);

/** `status` null: no answer. `code`: of its error. Null: it says nothing of the provider. */
export function outcomeOfTry(status: number | null, code: string | null): TryOutcome | null {
  if (code !== null && (isSpendRefusal(code) || notOfProvider.has(code))) return null;
  if (status !== null && status < 300) return { is: 'ok' };
  const named = code?.toLowerCase() ?? '';
  if (ofAccount.some((codes) => codes.has(named))) return { is: 'failed', error: named };
  if (named.startsWith('upstream_') && named !== 'upstream_error') return { is: 'failed', error: named };
  if (status === null) return { is: 'failed', error: 'no_answer' };
  const error = String(status);
  if (throttled.has(status)) return { is: 'throttled', error };
  return { is: status >= 500 || ofProvider.has(status) ? 'failed' : 'refused', error };
}
