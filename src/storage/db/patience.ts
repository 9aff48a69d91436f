import { setTimeout as delay } from 'node:timers/promises';

/** How long what is paid for, or a rollout under way, waits for a database that does not answer: while it does not, nobody else can take the lease. */
export const databasePatienceMs = 60_000;

/** For how long something is tried again, and what is told of each failure. */
export interface Patience {
  patienceMs: number;
  onRetry(error: unknown): void;
}

/**
 * Tries again for as long as what the database says may pass. Rejects with its last error when `patienceMs` are over, and
 * at once where waiting does not help.
 */
export async function retryTransient<T>(work: () => Promise<T>, { patienceMs, onRetry }: Patience): Promise<T> {
  const givenUpAt = Date.now() + patienceMs;
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() + waitMs > givenUpAt || !passes(error)) throw error;
      onRetry(error);
      await delay(waitMs);
    }
  }
}

/** Bad data and broken constraints (SQLSTATE 21–23, 25, 42) stay; all else that Postgres says may pass. */
function passes(error: unknown): boolean {
  return !/^(21|22|23|25|42)/.test(sqlStateOf(error) ?? '');
}

/** The SQLSTATE of what Postgres refused; null: it was something else. */
export function sqlStateOf(error: unknown): string | null {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' && code.length === 5 ? code : null;
}
