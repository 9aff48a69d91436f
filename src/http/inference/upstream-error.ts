import { providerRefusedKey } from '../../clients/models/complete-chat.js';
import { errorIn, type ProviderError } from '../../clients/models/provider-answer.js';
import { ApiError, openAiError, type OpenAiError } from '../server/errors.js';
import { cutErrorText } from '../../clients/net/untrusted.js';

/** A provider's error for our caller: status, and body in OpenAI's shape. */
export interface PassedError {
  status: number;
  body: { error: Record<string, unknown> };
  headers: Record<string, string>;
}

/** The code of a provider's 404; as a 404 it would say that our path is unknown. */
export const modelNotFound = 'model_not_found';

/** The code of a provider's 403; as a 403 it would say that the caller's key is refused. */
const providerRefused = 'provider_refused';

/** Keeps OpenAI's clients from a retry that would fail again. */
const inVain = { 'x-should-retry': 'false' };

/**
 * A provider's error in OpenAI's shape, unchanged if it already has that shape. A 401 and a 403
 * (our key), a 404 (its model or path, not ours) and a redirect become a 502.
 */
export function passError(provider: string, status: number, text: string): PassedError {
  if (status === 401) return { status: 502, body: { ...openAiError(refusedKey(provider)) }, headers: inVain };
  const error = errorIn(text);
  const detail = text.trim() === '' ? 'with an empty body' : `with: ${cutErrorText(text.trim())}`;
  const passed = {
    ...{ message: `The provider "${provider}" answered ${status} ${detail}`, type: 'upstream_error' },
    ...(error ? { code: null, param: null, ...(error as { message: string }) } : { code: String(status), param: null }),
  };
  if (status === 403) {
    const message = `Provider "${provider}" refused this request for the service's key: ${cutErrorText(passed.message)}`;
    return { status: 502, body: { error: { ...passed, message, code: providerRefused } }, headers: inVain };
  }
  if (status === 404) return { status: 502, body: { error: { ...passed, code: modelNotFound } }, headers: inVain };
  return { status: status < 400 ? 502 : status, body: { error: passed }, headers: {} };
}

/** The error for a provider that refuses our key. */
export function refusedKey(provider: string): ApiError {
  const message = `Provider "${provider}" refused the service's key; contact the operator.`;
  return new ApiError(502, providerRefusedKey, message, { headers: inVain });
}

const lasting: ReadonlySet<ProviderError['code']> = new Set([
  'provider_not_usable',
  'upstream_answer_too_large',
  'upstream_answer_invalid',
  'spend_quota_exceeded',
  'cost_not_bounded',
]);

/** The error for a provider without an answer. */
export function noAnswer(error: ProviderError): ApiError {
  const headers: Record<string, string> = {
    ...(lasting.has(error.code) && inVain),
    ...(error.retryAfterS !== null && { 'retry-after': String(error.retryAfterS) }),
  };
  return new ApiError(error.status, error.code, error.message, { cause: error, headers });
}

/** The error event of a stream. */
export function streamError(code: string, message: string): OpenAiError {
  return { error: { message, type: 'server_error', code, param: null } };
}
