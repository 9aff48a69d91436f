import { TimeoutError } from '../../../clients/net/bounded.js';
import { SseBlockTooLargeError } from '../../../clients/net/sse.js';
import { unsentFault, type UnsentCause } from '../../../clients/net/unsent.js';
import { errorCode, TooManyValuesError } from '../../../clients/net/untrusted.js';

/** A provider's answer, unchanged, except that `***` replaces our key. */
export interface ModelAnswer {
  status: number;
  contentType: string | null;
  /** As a `Retry-After` header has it; also from the other headers of rate limits. */
  retryAfter: string | null;
  /** `x-should-retry`; absent: the provider does not say. */
  shouldRetry?: boolean | null;
  /** Reads the whole body. `onBytes` gets the size of each part that arrives; it may throw. */
  read(onBytes?: (bytes: number) => void): Promise<Buffer>;
  /** The body as a stream of events; `onBytes` as for `read`. */
  stream(onBytes?: (bytes: number) => void): AsyncIterable<Uint8Array>;
}

/** Refusals by a quota of spend, with the status for our caller. */
const spendRefusals = { spend_quota_exceeded: 429, spend_unknown: 503, cost_not_bounded: 400 } as const;

const statuses = {
  upstream_unreachable: 502,
  upstream_connection_lost: 502,
  upstream_timeout: 504,
  upstream_answer_too_large: 502,
  upstream_answer_invalid: 502,
  provider_not_usable: 502,
  ...spendRefusals,
} as const;

/** Whether a quota of spend refused the call; the provider was not asked. */
export function isSpendRefusal(code: string): code is keyof typeof spendRefusals {
  return Object.hasOwn(spendRefusals, code);
}

const lasting: ReadonlySet<string> = new Set([
  'provider_not_usable',
  'upstream_answer_too_large',
  'upstream_answer_invalid',
  'spend_quota_exceeded',
  'cost_not_bounded',
]);

/** No answer from the provider. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly status: number;
  readonly code: keyof typeof statuses;
  /** When another call may be answered; null: unknown. */
  readonly retryAfterS: number | null;
  /** Whether another try gives the same error until somebody changes the set-up. */
  readonly isLasting: boolean;
  /** What failed before the first byte; null: another error. */
  readonly unsent: UnsentCause | null;
  constructor(
    code: ProviderError['code'],
    message: string,
    cause?: unknown,
    {
      retryAfterS = null,
      isLasting = lasting.has(code),
      unsent = null,
    }: { retryAfterS?: number | null; isLasting?: boolean; unsent?: ProviderError['unsent'] } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.isLasting = isLasting;
    this.status = statuses[code];
    this.retryAfterS = retryAfterS;
    this.unsent = unsent;
  }
}

/** Whether the fault came before the provider received the request. */
export function wasNotSent({ code }: ProviderError): boolean {
  return code === 'upstream_unreachable' || code === 'provider_not_usable' || isSpendRefusal(code);
}

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
  const isTooLarge = error instanceof SseBlockTooLargeError || error instanceof TooManyValuesError;
  if (isTooLarge || code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    const what = isTooLarge ? message : 'a larger answer than RATCHET_MAX_ANSWER_MIB allows';
    return new ProviderError('upstream_answer_too_large', `The provider "${name}" sent ${what}.`, error);
  }
  const unsent = unsentFault(error);
  if (unsent) {
    const { reason, remedy, isLasting } = unsent;
    const said = `The provider "${name}" cannot be reached: ${reason}.${remedy === null ? '' : ` ${remedy}`}`;
    return new ProviderError('upstream_unreachable', said, error, { isLasting, unsent: unsent.cause });
  }
  return new ProviderError(
    'upstream_connection_lost',
    `The connection to the provider "${name}" broke (${code || message}).`,
    error,
  );
}
