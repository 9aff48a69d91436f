import { setTimeout as delay } from 'node:timers/promises';

/** A piece of work took longer than it was given. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * Runs `work` under a signal that fires with the parent's or after `ms`, whichever is first; its rejection is then the
 * parent's reason or a TimeoutError. This bounds the whole exchange, so that one byte a second does not hold it open.
 */
export async function withTimeout<T>(
  ms: number,
  parent: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new TimeoutError(`no full answer within ${ms} ms`)), Math.max(0, ms));
  const follow = () => controller.abort(parent.reason);
  parent.addEventListener('abort', follow, { once: true });
  try {
    return await work(controller.signal);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    parent.removeEventListener('abort', follow);
  }
}

/** A clock that stands still while what is waited for is not of the making of whom it measures. */
export interface PausableTimer {
  /** It stands still until what this answers is called; of several until the last is. */
  hold(): () => void;
}

/** As `within`, by a clock that can be held: `ms` are of the time in which it goes. */
export async function withPausableTimeout<T>(
  ms: number,
  parent: AbortSignal,
  work: (signal: AbortSignal, clock: PausableTimer) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const fire = () => over.abort(new TimeoutError(`nothing within ${ms} ms`));
  let left = ms;
  let goesSince = performance.now();
  let timer = setTimeout(fire, left);
  let holds = 0;
  const hold = () => {
    if (holds++ === 0) {
      clearTimeout(timer);
      left -= performance.now() - goesSince;
    }
    let isHeld = true;
    return () => {
      if (isHeld && --holds === 0) {
        goesSince = performance.now();
        timer = setTimeout(fire, Math.max(0, left));
      }
      isHeld = false;
    };
  };
  const signal = AbortSignal.any([parent, over.signal]);
  signal.throwIfAborted();
  try {
    return await work(signal, { hold });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    holds = Infinity;
  }
}

/** Sleeps, or rejects with the signal's reason as soon as it fires. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** `Retry-After` (RFC 9110 §10.2.3: seconds or a date) in milliseconds from `now`; null when absent or unreadable. */
export function retryAfterMs(header: string | null, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
