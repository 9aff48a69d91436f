import type { Tx } from '../../platform/db/db.js';

/** Open jobs of a kind and status. */
export interface OpenJobs {
  kind: string;
  status: string;
  count: number;
  /** Seconds since the last event of the job that is the longest without one; null: none is due. */
  progressAge: number | null;
}

/** Counts the open jobs of all organizations, by kind and status, in a `worker` transaction. */
export function countOpenJobs(tx: Tx): Promise<OpenJobs[]> {
  return tx.query<OpenJobs & Record<string, unknown>>(
    'select kind, status, count, progress_age as "progressAge" from count_open_jobs()',
  );
}
