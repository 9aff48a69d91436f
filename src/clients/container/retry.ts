import type { Dispatcher } from 'undici';
import { sleep, retryAfterMs } from '../net/bounded.js';
import type { Answer, Fault, Peer } from './answer.js';
import { exchange, type ExchangeRequest } from './exchange.js';
import type { RolloutRequest } from './request.js';

const maxTries = 3;
const maxPushbackMs = 30_000;

/**
 * Three full tries of `tryTimeoutMs` and the waits between them: a shorter limit per try would cut
 * off slow but healthy rollouts and pay for them again.
 */
export function rolloutWindowMs(tryTimeoutMs: number): number {
  return maxTries * tryTimeoutMs + 1_500;
}

export function isFault(value: object): value is Fault {
  return 'kind' in value && value.kind === 'fault';
}

/**
 * Retries until a result, a final fault or the deadline: after `Retry-After` (else doubling) on a
 * pushback such as 429; three tries after any other fault that may pass.
 */
export function createCaller(dispatcher: Dispatcher, baseMs: number, peer: Peer = 'container') {
  return async function call<T extends object>(
    read: (answer: Answer) => T | Fault,
    what: ExchangeRequest,
    limits: Pick<RolloutRequest, 'tryTimeoutMs' | 'deadline' | 'onPushback' | 'onRetry' | 'mayRetry' | 'admit'>,
    signal: AbortSignal,
  ): Promise<T | Fault> {
    let tries = 0;
    let pushbacks = 0;
    let previous: Fault | null = null;
    let { deadline } = limits;
    for (;;) {
      const readyAt = performance.now();
      const release = await limits.admit?.(signal);
      // Waiting for admission is not the container's fault.
      deadline += performance.now() - readyAt;
      const left = Math.max(1, deadline - performance.now());
      const answer = await exchange(dispatcher, what, Math.min(limits.tryTimeoutMs, left), signal, peer).finally(
        release,
      );
      const result = isFault(answer) ? answer : read(answer);
      const timedOut = isFault(result) && result.failure.code === `${peer}_timeout`;
      const mayRetry = limits.mayRetry?.(timedOut) ?? true;
      if (!isFault(result) || result.retry === 'none') return result;
      // A try cut short by the deadline carries no new information: report the fault before it.
      if (previous && left < limits.tryTimeoutMs && timedOut) return previous;
      previous = result;
      if (timedOut) limits.onPushback?.(`The ${peer} did not answer in time`);
      if (!mayRetry) return result;
      let wait: number;
      if (result.retry === 'pushback') {
        limits.onPushback?.(/^The \w+ answered \d+/.exec(result.failure.message)?.[0] ?? `The ${peer} is busy`);
        const requested = retryAfterMs(result.retryAfter, Date.now());
        // At least the base: `Retry-After: 0` must not cause a busy loop.
        wait = Math.max(baseMs, requested ?? Math.min(maxPushbackMs, baseMs * 2 ** pushbacks));
        pushbacks += 1;
      } else {
        tries += 1;
        if (tries >= maxTries) return result;
        wait = Math.max(baseMs * 2 ** (tries - 1), retryAfterMs(result.retryAfter, Date.now()) ?? 0);
      }
      if (performance.now() + wait >= deadline) return result;
      await sleep(wait, signal);
      limits.onRetry?.();
    }
  };
}
