import { judgeRefusal, providerRefusedAccount, providerRefusedKey, refusedCall } from '../client/refusals.js';
import { isPushback, type RetryAdvice } from '../../clients/net/retry-advice.js';
import { errorOfBody } from '../client/answers/answer-error.js';
import type { ProviderError } from '../client/answers/provider-answer.js';
import { ApiError, openAiError, type OpenAiError } from '../../platform/http/server/errors.js';
import { cutErrorText } from '../../clients/net/untrusted.js';

/** A provider's error for our caller, in OpenAI's shape. `recorded`: the status on record. */
export interface PassedError {
  status: number;
  recorded: number;
  body: { error: Record<string, unknown> };
  headers: Record<string, string>;
}

/** The code of a provider's 404; as a 404 it would say that our path is unknown. */
export const modelNotFound = 'model_not_found';

/** The code of a provider's 403; as a 403 it would say that the caller's key is refused. */
const providerRefused = 'provider_refused';

/** Keeps OpenAI's clients from a retry that would fail again. */
export const inVain = { 'x-should-retry': 'false' };

/** Statuses that would say something of our own, with the code that says whose it is. */
const ours: Record<number, { status: number; code: string }> = {
  401: { status: 502, code: providerRefused },
  402: { status: 502, code: providerRefusedAccount },
  403: { status: 502, code: providerRefused },
  404: { status: 502, code: modelNotFound },
  405: { status: 502, code: 'provider_rejected' },
  407: { status: 502, code: 'provider_rejected' },
  408: { status: 504, code: 'upstream_timeout' },
  409: { status: 502, code: 'provider_conflict' },
  410: { status: 502, code: modelNotFound },
  421: { status: 502, code: 'provider_rejected' },
};

/**
 * A provider's error in OpenAI's shape, unchanged if it already has that shape. A redirect and a
 * status with a meaning of our own become a 502 or 504 with a code and `provider_status`.
 */
export function passError(provider: string, status: number, text: string, advice: RetryAdvice): PassedError {
  const refused = refusedCall(status, text);
  const { scope, mayPass } = judgeRefusal(refused, advice);
  if (scope === 'key') {
    const body = { error: { ...openAiError(refusedKey(provider)).error, provider_status: status } };
    return { status: 502, recorded: status, body, headers: inVain };
  }
  const detail = text.trim() === '' ? 'with an empty body' : `with: ${cutErrorText(text.trim())}`;
  const passed = errorOfBody(text) ?? {
    message: `The provider "${provider}" answered ${status} ${detail}`,
    type: 'upstream_error',
    code: String(status),
    param: null,
  };
  const headers = repetition(status, mayPass, advice);
  const own = ours[status];
  if (!own) {
    const shown = status < 400 ? 502 : status;
    return { status: shown, recorded: shown, body: { error: passed }, headers };
  }
  const said = cutErrorText(passed.message);
  const isOfAccount = scope === 'credit' || scope === 'account';
  const code = isOfAccount ? providerRefusedAccount : own.code;
  const message =
    code === providerRefused ? `Provider "${provider}" refused this request for the service's key: ${said}` : said;
  const body = { error: { ...passed, message, code, provider_status: status } };
  return { status: own.status, recorded: status, body, headers };
}

/** The provider's advice; `x-should-retry` where clients would read the status otherwise. */
function repetition(
  status: number,
  mayPass: boolean,
  { shouldRetry, retryAfter }: RetryAdvice,
): Record<string, string> {
  if (!mayPass) return shouldRetry === false || status < 400 || clientsRepeat(status) ? inVain : {};
  const after = retryAfter ?? (isPushback(status) ? '1' : null);
  const isTold = shouldRetry === true || !clientsRepeat(status);
  return { ...(isTold && { 'x-should-retry': 'true' }), ...(after !== null && { 'retry-after': after }) };
}

/** Statuses that OpenAI's clients repeat, also as what they become here. */
function clientsRepeat(status: number): boolean {
  return status in ours || status === 429 || status >= 500;
}

/** The error for a provider that refuses the account of our key. */
export function refusedAccount(message: string): ApiError {
  return new ApiError(502, providerRefusedAccount, message, { headers: inVain });
}

/** The error for a provider that refuses our key. */
export function refusedKey(provider: string): ApiError {
  const message = `Provider "${provider}" refused the service's key; contact the operator.`;
  return new ApiError(502, providerRefusedKey, message, { headers: inVain });
}

/** The error for a provider without an answer. */
export function noAnswer(error: ProviderError): ApiError {
  const headers: Record<string, string> = {
    ...(error.isLasting && inVain),
    ...(error.retryAfterS !== null && { 'retry-after': String(error.retryAfterS) }),
  };
  return new ApiError(error.status, error.code, error.message, { cause: error, headers });
}

/** The error event of a stream. */
export function streamError(code: string, message: string): OpenAiError {
  return { error: { message, type: 'server_error', code, param: null } };
}
