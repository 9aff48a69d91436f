import { setTimeout as delay } from 'node:timers/promises';
import { isTransient } from './postgres-errors.js';

/**
 * How long paid results and running rollouts wait for an unreachable database. Meanwhile no other
 * runner can take the lease.
 */
export const databasePatienceMs = 60_000;

/** Retry limit, and a callback for each failure. */
export interface Patience {
  patienceMs: number;
  onRetry(error: unknown): void;
}

/**
 * Retries transient database errors. Rejects with the last one after `patienceMs`, and with any
 * other error at once.
 */
export async function retryTransient<T>(work: () => Promise<T>, { patienceMs, onRetry }: Patience): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() + waitMs > deadline || !isTransient(error)) throw error;
      onRetry(error);
      await delay(waitMs);
    }
  }
}
