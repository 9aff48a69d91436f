import { TimeoutError } from '../net/bounded.js';
import { SseBlockTooLargeError } from '../net/sse.js';
import { boundDepth, errorCode } from '../net/untrusted.js';
import { asObject } from '../../util/json.js';

/** A provider's answer, unchanged, except that `***` replaces our key. */
export interface ModelAnswer {
  status: number;
  contentType: string | null;
  retryAfter: string | null;
  /** Reads the whole body. `onBytes` gets the size of each part that arrives; it may throw. */
  read(onBytes?: (bytes: number) => void): Promise<Buffer>;
  /** The body as a stream of events; `onBytes` as for `read`. */
  stream(onBytes?: (bytes: number) => void): AsyncIterable<Uint8Array>;
}

/** No answer from the provider. `status` goes to our caller. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly status: 502 | 504;
  readonly code:
    | 'upstream_unreachable'
    | 'upstream_connection_lost'
    | 'upstream_timeout'
    | 'upstream_answer_too_large'
    | 'provider_not_usable';
  constructor(code: ProviderError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.status = code === 'upstream_timeout' ? 504 : 502;
  }
}

const unreachable = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The error for a failed request to a provider, or for a body that broke off. */
export function providerError(name: string, error: unknown): Error {
  const code = errorCode(error);
  if (code === null) throw error;
  // The second kind are internal errors.
  if (error instanceof ProviderError || error instanceof TypeError || error instanceof RangeError) return error;
  const { message } = error as Error;
  if (error instanceof TimeoutError) {
    return new ProviderError('upstream_timeout', `The provider "${name}" gave ${message}.`, error);
  }
  if (error instanceof SseBlockTooLargeError || code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    const what = code === '' ? message : 'a larger answer than RATCHET_MAX_ANSWER_MIB allows';
    return new ProviderError('upstream_answer_too_large', `The provider "${name}" sent ${what}.`, error);
  }
  if (unreachable.has(code)) {
    return new ProviderError('upstream_unreachable', `The provider "${name}" cannot be reached (${code}).`, error);
  }
  return new ProviderError(
    'upstream_connection_lost',
    `The connection to the provider "${name}" broke (${code || message}).`,
    error,
  );
}

/** A body's `error` with a message; Google wraps it in a list. */
export function errorIn(text: string): Record<string, unknown> | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    if (cause instanceof SyntaxError) return null;
    throw cause;
  }
  const error = asObject(boundDepth(asObject(Array.isArray(body) ? body[0] : body)?.['error']));
  return typeof error?.['message'] === 'string' ? error : null;
}
