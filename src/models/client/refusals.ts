/**
 * What a provider's refusal holds for: the one table of statuses, types and codes. Words decide
 * only where a provider has no code.
 */
import { mayPass, type RetryAdvice } from '../../clients/net/retry-advice.js';
import { asObject } from '../../util/json.js';
import { errorJson, errorOfBody } from './answers/answer-error.js';
import { badKey, closedAccount, codesOf, noCredit, noModel } from './answers/error-codes.js';

/** Error code: the provider refuses the service's key, so every call would fail. */
export const providerRefusedKey = 'provider_refused_key';

/** Error code: the provider refuses the account (no credit, closed), so every call would fail. */
export const providerRefusedAccount = 'provider_refused_account';

/** Whether a code of a failed call is that of every later call to the provider. */
export function isFinalForAccount(code: string): boolean {
  return code === providerRefusedKey || code === providerRefusedAccount;
}

/**
 * `key`, `credit`, `account`, `model`: every such call is refused. `request`: another prompt may
 * work. `moment`: the same call may work later. `other`: a refusal without a known reason.
 */
export type RefusalScope = 'key' | 'credit' | 'account' | 'model' | 'request' | 'moment' | 'other';

export interface Refusal {
  scope: RefusalScope;
  mayPass: boolean;
}

/** A refusal as it came, or as it was recorded; `code`: that of the body, or its type. */
export interface RefusedCall {
  status: number;
  codes: readonly string[];
  message: string;
}

/** Words of providers that have no code for it. Google says "quota" of every 429. */
const words: readonly [scope: RefusalScope, pattern: RegExp][] = [
  [
    'credit',
    /credit balance is too low|insufficient (account )?(balance|credits?|funds)|balance is insufficient|(used|run out of|out of) (all )?(available |your )?credits|credits? limit/i,
  ],
  [
    'credit',
    /billing hard limit|specified api usage limit|free-models-per-day|api calls \/ month|quota exceeded for metric: [^\n]{0,200}, limit: 0\b/i,
  ],
  [
    'account',
    /\b(account|organization|workspace)( \S{1,64})? (is|has been|was) (deactivated|suspended|disabled|closed|restricted|locked)/i,
  ],
  ['key', /api[ _-]?key (is )?(not valid|invalid|expired)|(invalid|incorrect) api[ _-]?key/i],
  [
    'model',
    /model not exist|not a valid model id|invalid model name|model .{0,200}(does not exist|not found|is not supported|decommissioned)/i,
  ],
];

/** Statuses for a request that the provider cannot accept; another prompt may work. */
const faultsOfRequest = new Set([400, 413, 422]);

/** What a refusal holds for, and whether the same call may be sent again. */
export function judgeRefusal(refused: RefusedCall, advice: Pick<RetryAdvice, 'shouldRetry'>): Refusal {
  const scope = scopeOf(refused);
  const isFinal = scope === 'key' || scope === 'credit' || scope === 'account' || scope === 'model';
  return { scope, mayPass: advice.shouldRetry ?? (!isFinal && mayPass(refused.status, advice)) };
}

function scopeOf({ status, codes, message }: RefusedCall): RefusalScope {
  const has = (table: ReadonlySet<string>) => codes.some((code) => table.has(code.toLowerCase()));
  if (status < 500) {
    if (status === 402 || has(noCredit)) return 'credit';
    if (has(closedAccount)) return 'account';
    if (status === 401 || has(badKey)) return 'key';
    if (status === 404 || has(noModel)) return 'model';
    const said = isWordy(status) ? words.find(([, pattern]) => pattern.test(message)) : undefined;
    if (said) return said[0];
  }
  if (mayPass(status, { shouldRetry: null })) return 'moment';
  return faultsOfRequest.has(status) ? 'request' : 'other';
}

const isWordy = (status: number) => status === 400 || status === 403 || status === 412 || status === 429;

/** The codes and words of an error body, in the places where providers put them. */
export function refusedCall(status: number, text: string): RefusedCall {
  const error = errorOfBody(text);
  const message = error?.message ?? text.slice(0, 2_048);
  const codes = error ? codesOf(errorJson(text) ?? {}, error) : [];
  return { status, codes, message: [message, ...wordsOfVendor(error)].join(': ') };
}

/** What the vendor said to OpenRouter, whose own words are the same for every error. */
function wordsOfVendor(error: Record<string, unknown> | null): string[] {
  const raw = asObject(error?.['metadata'])?.['raw'];
  return typeof raw === 'string' && raw.trim() !== '' ? [raw.trim().slice(0, 1_024)] : [];
}
