import { setTimeout as delay } from 'node:timers/promises';

/** Work exceeded its time limit. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** A timer that pauses while waiting on something the measured code does not control. */
export interface PausableTimer {
  /** Pauses until the returned function is called; nested pauses last until the last one ends. */
  hold(): () => void;
}

/**
 * Runs `work` under a signal that fires with the parent's signal or after `ms` of running time.
 * Rejects with the parent's reason or a TimeoutError. Bounds the whole exchange, slow bodies too.
 */
export async function withTimeout<T>(
  ms: number,
  parent: AbortSignal,
  work: (signal: AbortSignal, timer: PausableTimer) => Promise<T>,
): Promise<T> {
  parent.throwIfAborted();
  const bound = new AbortController();
  const expire = () => bound.abort(new TimeoutError(`no full answer within ${ms} ms`));
  // AbortSignal.any keeps 1.2 kB of each call for as long as the parent lives (Node 20).
  const follow = () => bound.abort(parent.reason);
  parent.addEventListener('abort', follow, { once: true });
  let left = ms;
  let runsSince = performance.now();
  let timer = setTimeout(expire, Math.max(0, left));
  let holds = 0;
  const hold = () => {
    if (holds++ === 0) {
      clearTimeout(timer);
      left -= performance.now() - runsSince;
    }
    let isHeld = true;
    return () => {
      if (isHeld && --holds === 0) {
        runsSince = performance.now();
        timer = setTimeout(expire, Math.max(0, left));
      }
      isHeld = false;
    };
  };
  try {
    return await work(bound.signal, { hold });
  } catch (error) {
    bound.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    holds = Infinity;
    parent.removeEventListener('abort', follow);
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
