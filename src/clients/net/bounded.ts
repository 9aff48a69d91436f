import { setTimeout as delay } from 'node:timers/promises';

/** Work exceeded its time limit. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * Runs `work` under a signal that fires with the parent's signal or after `ms`; rejects with the
 * parent's reason or a TimeoutError. Bounds the whole exchange, slow bodies included.
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

/** A timer that pauses while waiting on something the measured code does not control. */
export interface PausableTimer {
  /** Pauses until the returned function is called; nested pauses last until the last one ends. */
  hold(): () => void;
}

/** Like `withTimeout`, with a timer that can be paused: `ms` counts running time only. */
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

/** Waits `ms`; rejects with the signal's reason when the signal fires. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** `Retry-After` (RFC 9110 §10.2.3) in milliseconds from `now`; null if absent or invalid. */
export function retryAfterMs(header: string | null, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
