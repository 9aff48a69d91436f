/** Names that providers give to errors: those of the account, and the status that each means. */
import { asObject } from '../../../util/json.js';

type Json = Record<string, unknown>;

/** OpenAI, Anthropic, OpenRouter, DeepSeek, Together, Moonshot, Z.ai, Qwen, xAI, Hugging Face. */
export const noCredit: ReadonlySet<string> = new Set([
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
  'billing_limit_user_error',
  'billing_disabled',
  'budget_exceeded',
  'exceeded_current_quota_error',
  'quota_used_up',
  'arrearage',
  'allocationquota.freetieronly',
  '1113',
]);

export const closedAccount: ReadonlySet<string> = new Set([
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

export const badKey: ReadonlySet<string> = new Set([
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

export const noModel: ReadonlySet<string> = new Set([
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

const statuses: Record<number, string[]> = {
  400: ['invalid_request_error', 'invalid_argument', 'failed_precondition', 'bad_request', 'badrequesterror'],
  401: [...badKey],
  402: [...noCredit],
  403: ['permission_error', 'permission_denied', ...closedAccount],
  404: ['not_found', 'not_found_error', 'notfounderror', ...noModel],
  413: ['request_too_large'],
  422: ['validation', 'validation_error', 'unprocessable_entity'],
  429: ['rate_limit_exceeded', 'rate_limit_error', 'rate_limited', 'rate_limit_reached', 'too_many_requests'],
  503: ['service_unavailable', 'service_unavailable_error', 'unavailable', 'serviceunavailableexception'],
  504: ['timeout', 'timeout_error', 'request_timeout', 'deadline_exceeded', 'gateway_timeout'],
  529: ['overloaded_error'],
};

/** The same for names whose status is not that of their kind. */
const apart: Record<string, number> = {
  context_length_exceeded: 400,
  content_filter: 400,
  content_policy_violation: 400,
  invalid_prompt: 400,
  insufficient_quota: 429,
  resource_exhausted: 429,
  overloaded: 429,
  engine_overloaded_error: 429,
  throttlingexception: 429,
  throttling: 429,
};

const statusByCode = new Map([
  ...Object.entries(statuses).flatMap(([status, codes]) =>
    codes.map((code): [string, number] => [code, Number(status)]),
  ),
  ...Object.entries(apart),
]);

/** The status that the names of an error mean, the first that means one; null: none does. */
export function statusOfCodes(codes: readonly string[]): number | null {
  const known = codes.map((code) => statusByCode.get(code.toLowerCase()));
  return known.find((status) => status !== undefined) ?? null;
}

/** The names in an error and in the body around it, in the places where providers put them. */
export function codesOf(body: Json, own: Json): string[] {
  const details = (Array.isArray(own['details']) ? (own['details'] as unknown[]) : []).map(asObject);
  const given = [
    own['code'],
    own['type'],
    own['status'],
    own['error_code'],
    body['code'],
    body['type'],
    body['error_type'],
    body['error_code'],
    ...details.map((detail) => detail?.['reason']),
  ];
  const codes = given.flatMap((code) =>
    typeof code === 'string' && code !== '' ? [code] : typeof code === 'number' ? [String(code)] : [],
  );
  const isUsedUp = details.some((detail) => isOfADay(detail?.['violations']));
  return [...codes, ...(isUsedUp ? ['quota_used_up'] : [])];
}

/** Whether a quota in Google's list is that of a day, or 0; its words are those of a minute. */
function isOfADay(violations: unknown): boolean {
  const list = (Array.isArray(violations) ? (violations as unknown[]) : []).map(asObject);
  return list.some((one) => /per_?day/i.test(String(one?.['quotaId'] ?? '')) || one?.['quotaValue'] === '0');
}

/** MiniMax has numbers that other providers use for other things. */
const miniMax: Record<string, string> = {
  1001: 'timeout',
  1002: 'rate_limit_exceeded',
  1004: 'invalid_api_key',
  1008: 'insufficient_balance',
  1039: 'rate_limit_exceeded',
  2013: 'invalid_request_error',
  2049: 'invalid_api_key',
};

/** MiniMax's `base_resp` as an error; null: it tells a success. */
export function errorOfMiniMax(value: unknown): Json | null {
  const { status_code: code, status_msg: message } = asObject(value) ?? {};
  if (typeof code !== 'number' || code === 0) return null;
  return { message, code: miniMax[code] ?? `minimax_${code}` };
}
