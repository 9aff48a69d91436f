import type { Readable } from 'node:stream';
import { TimeoutError } from '../net/bounded.js';
import { errorCode } from '../net/untrusted.js';

/** A provider's answer: status and body as they came. For an error status the body holds none of our keys. */
export interface ModelAnswer {
  status: number;
  contentType: string | null;
  retryAfter: string | null;
  body: Readable;
}

/** No answer came about. `status` is what to tell our own caller. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly status: 502 | 504;
  readonly code: 'upstream_unreachable' | 'upstream_connection_lost' | 'upstream_timeout' | 'provider_not_usable';
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

/** What went wrong on the way to a provider or while its body was read. */
export function providerError(name: string, error: unknown): Error {
  const code = errorCode(error);
  if (code === null) throw error;
  // The second kind are errors of ours.
  if (error instanceof ProviderError || error instanceof TypeError || error instanceof RangeError) return error;
  const { message } = error as Error;
  if (error instanceof TimeoutError) {
    return new ProviderError('upstream_timeout', `The provider "${name}" gave ${message}.`, error);
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
