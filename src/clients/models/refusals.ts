/**
 * What a provider's refusal holds for: the one table of statuses, types and codes. Words decide
 * only where a provider has no code.
 */
import { mayPass, type RetryAdvice } from '../net/retry-advice.js';
import { asObject, exceedsJsonLimits } from '../../util/json.js';
import { errorIn } from './provider-answer.js';

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

/** OpenAI, Anthropic, OpenRouter, DeepSeek, Together, Moonshot, Z.ai, Qwen, xAI, Hugging Face. */
const noCredit = new Set([
  'insufficient_quota',
  'insufficient_balance',
  'insufficient_credits',
  'insufficient_credit',
  'insufficient_funds',
  'insufficient_user_quota',
  'credit_balance_too_low',
  'credit_limit',
  'credits_exhausted',
  'out_of_credits',
  'payment_required',
  'billing_error',
  'billing_not_active',
  'billing_hard_limit_reached',
  'billing_disabled',
  'budget_exceeded',
  'exceeded_current_quota_error',
  'arrearage',
  'allocationquota.freetieronly',
  '1113',
]);

const closedAccount = new Set([
  'account_deactivated',
  'account_disabled',
  'account_suspended',
  'account_locked',
  'organization_deactivated',
  'organization_restricted',
  'organization_disabled',
  'user_suspended',
  'access_terminated',
  'accessdenied.unpurchased',
  'deactivated_workspace',
  '1112',
  '1121',
]);

const badKey = new Set([
  'invalid_api_key',
  'invalid_key',
  'api_key_invalid',
  'api_key_expired',
  'invalid_authentication',
  'invalid_authentication_error',
  'authentication_error',
  'unauthenticated',
  'invalidapikey',
  'token_expired',
  '1000',
  '1002',
]);

const noModel = new Set([
  'model_not_found',
  'model_not_available',
  'model_not_supported',
  'model_decommissioned',
  'model_deprecated',
  'invalid_model',
  'unknown_model',
  'deploymentnotfound',
  '1211',
]);

/** Words of providers that have no code for it. Google says "quota" of every 429. */
const words: readonly [scope: RefusalScope, pattern: RegExp][] = [
  [
    'credit',
    /credit balance is too low|insufficient (account )?(balance|credits?|funds)|(used|run out of|out of) (all )?(available |your )?credits/i,
  ],
  [
    'account',
    /\b(account|organization|workspace) (is|has been|was) (deactivated|suspended|disabled|closed|restricted|locked)/i,
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
  const error = errorIn(text) ?? flatError(text);
  const details = Array.isArray(error?.['details']) ? (error['details'] as unknown[]) : [];
  const reasons = details.map((detail) => asObject(detail)?.['reason']);
  const codes = [error?.['code'], error?.['type'], error?.['status'], ...reasons].flatMap((code) =>
    typeof code === 'string' ? [code] : typeof code === 'number' ? [String(code)] : [],
  );
  const message = error?.['message'];
  return { status, codes, message: typeof message === 'string' ? message : text.slice(0, 2_048) };
}

/** An error whose fields stand at the top: `{"error": "…", "code": "…"}`, `{"message": "…"}`. */
function flatError(text: string): Record<string, unknown> | null {
  if (text === '' || exceedsJsonLimits(text)) return null;
  try {
    const body = asObject(JSON.parse(text));
    if (!body) return null;
    const said = [body['error'], body['message'], body['detail']].find((words) => typeof words === 'string');
    return said === undefined ? null : { ...body, message: said };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
