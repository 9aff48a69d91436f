import type { Tx } from '../../platform/db/db.js';

/** Counts the open jobs of all organizations, by kind and status, in a `worker` transaction. */
export function countOpenJobs(tx: Tx): Promise<{ kind: string; status: string; count: number }[]> {
  return tx.query('select kind, status, count from count_open_jobs()');
}
