import { RatchetError } from './errors.js';

const firstWaitMs = 500;
const longestWaitMs = 8_000;
/** A wait that the caller had better decide about, such as that for a daily quota. */
const longestRetryAfter = 60;

export interface RetryRule {
  /** Whether doing it twice is the same as doing it once. */
  isRepeatable: boolean;
  maxRetries: number;
  signal: AbortSignal | undefined;
  /** Called before each repetition. */
  onBreak?: (() => void) | undefined;
}

/** Runs a call until it succeeds, fails for good, or has used its retries. */
export async function withRetries<T>(rule: RetryRule, run: (tries: number) => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await run(tries);
    } catch (error) {
      if (!(error instanceof RatchetError) || tries >= rule.maxRetries || !mayRetry(error, rule.isRepeatable))
        throw error;
      rule.onBreak?.();
      await pause(waitMs(tries, error.retryAfter), rule.signal);
    }
  }
}

/** Whether another try may succeed, and cannot do the work a second time. */
function mayRetry(error: RatchetError, isRepeatable: boolean): boolean {
  const { status, code, headers, retryAfter } = error;
  const advice = headers?.get('x-should-retry');
  if (advice === 'false' || (retryAfter ?? 0) > longestRetryAfter) return false;
  // Refused before any work.
  if (advice === 'true' || status === 429 || status === 498 || code === 'draining') return true;
  if (!isRepeatable) return false;
  if (status === null) return code !== 'invalid_answer';
  return mayPass(status) || code === 'request_in_flight';
}

/** The service's table (`clients/net/retry-advice`), but for 409: a conflict of Ratchet stays. */
function mayPass(status: number): boolean {
  return [408, 425, 429, 498, 499].includes(status) || (status >= 500 && status !== 501 && status !== 505);
}

/** Exponential back-off with jitter, not before `retry-after`. */
export function waitMs(tries: number, retryAfter: number | null): number {
  const backOff = Math.min(firstWaitMs * 2 ** tries, longestWaitMs) * (0.5 + Math.random() / 2);
  return Math.max(backOff, (retryAfter ?? 0) * 1_000);
}

/** Resolves after `ms`; rejects with the signal's reason. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
