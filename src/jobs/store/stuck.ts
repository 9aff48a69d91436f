import type { Tx } from '../../platform/db/db.js';

/** A workflow task that fails again and again. */
export interface FailingTask {
  /** Temporal's name of the failure, in lower case. */
  cause: string;
  message: string;
}

/** Why a job makes no progress; `since`: a time as JSON. */
export interface Stuck extends FailingTask {
  since: string;
}

/** Marks an open job as stuck. Returns false where it has the mark of this cause already. */
export async function markStuck(tx: Tx, jobId: string, { cause, message }: FailingTask): Promise<boolean> {
  const rows = await tx.query(
    `update jobs set stuck = jsonb_build_object('cause', $2::text, 'message', $3::text, 'since', now())
      where id = $1 and status in ('running', 'paused') and stuck->>'cause' is distinct from $2 returning id`,
    [jobId, cause, message],
  );
  return rows.length > 0;
}

/** Removes the mark. Returns whether there was one. */
export async function clearStuck(tx: Tx, jobId: string): Promise<boolean> {
  const rows = await tx.query('update jobs set stuck = null where id = $1 and stuck is not null returning id', [jobId]);
  return rows.length > 0;
}

/** Counts the stuck jobs of all organizations by cause, in a `worker` transaction. */
export function countStuckJobs(tx: Tx): Promise<{ cause: string; count: number }[]> {
  return tx.query('select cause, count from count_stuck_jobs()');
}
