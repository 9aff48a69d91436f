import type { Tx } from '../db/db.js';

/** Counts the open jobs of all organizations, by kind and status, in a `worker` transaction. */
export function countOpenJobs(tx: Tx): Promise<{ kind: string; status: string; count: number }[]> {
  return tx.query(
    `select kind, status, count(*)::int as count from jobs
      where status in ('pending', 'running', 'paused') group by kind, status`,
  );
}
