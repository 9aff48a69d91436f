import { setTimeout as delay } from 'node:timers/promises';
import { isTransient } from './postgres-errors.js';

/** How long what is paid for, or a rollout under way, waits for a database that does not answer: while it does not, nobody else can take the lease. */
export const databasePatienceMs = 60_000;

/** For how long something is tried again, and what is told of each failure. */
export interface Patience {
  patienceMs: number;
  onRetry(error: unknown): void;
}

/**
 * Retries after transient errors of the database. Rejects with the last error after `patienceMs`, and with any other
 * error at once.
 */
export async function retryTransient<T>(work: () => Promise<T>, { patienceMs, onRetry }: Patience): Promise<T> {
  const givenUpAt = Date.now() + patienceMs;
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() + waitMs > givenUpAt || !isTransient(error)) throw error;
      onRetry(error);
      await delay(waitMs);
    }
  }
}
