import { providerRefusedKey } from '../../clients/models/complete-chat.js';
import { errorIn, type ProviderError } from '../../clients/models/provider-answer.js';
import { ApiError, openAiError, type OpenAiError } from '../server/errors.js';
import { cutErrorText } from '../../clients/net/untrusted.js';

/** A provider's error for our caller: status, and body in OpenAI's shape. */
export interface PassedError {
  status: number;
  body: { error: Record<string, unknown> };
}

/**
 * A provider's error in OpenAI's shape, unchanged if it already has that shape. A 401 (our key) and
 * a redirect become a 502.
 */
export function passError(provider: string, status: number, text: string): PassedError {
  if (status === 401) return { status: 502, body: { ...openAiError(refusedKey(provider)) } };
  const passed = status < 400 ? 502 : status;
  const error = errorIn(text);
  if (error) return { status: passed, body: { error: { type: 'upstream_error', code: null, param: null, ...error } } };
  const detail = text.trim() === '' ? 'with an empty body' : `with: ${cutErrorText(text.trim())}`;
  const message = `The provider "${provider}" answered ${status} ${detail}`;
  return { status: passed, body: { error: { message, type: 'upstream_error', code: String(status), param: null } } };
}

/** The error for a provider that refuses our key. */
export function refusedKey(provider: string): ApiError {
  const message = `Provider "${provider}" refused the service's key; contact the operator.`;
  return new ApiError(502, providerRefusedKey, message, { headers: { 'x-should-retry': 'false' } });
}

/** The error for a provider without an answer. */
export function noAnswer(error: ProviderError): ApiError {
  const headers: Record<string, string> = error.code === 'provider_not_usable' ? { 'x-should-retry': 'false' } : {};
  return new ApiError(error.status, error.code, error.message, { cause: error, headers });
}

/** The error event of a stream. */
export function streamError(code: string, message: string): OpenAiError {
  return { error: { message, type: 'server_error', code, param: null } };
}
