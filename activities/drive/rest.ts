import type { JobFault } from '../../src/core/jobs/fault.js';
import { isSpending, type JobEnd } from '../../src/core/jobs/outcome.js';
import type { JobProgress } from '../../src/core/jobs/progress.js';
import type { Tx } from '../../src/platform/db/db.js';
import type { ShownRow } from '../../src/jobs/store/shown.js';
import { releaseLease } from '../../src/jobs/store/leases.js';
import type { RunnerContext } from '../rollouts/runner.js';

/**
 * Why an activity returns. `again`: its time is over, or it was interrupted. `unprepared`: the
 * database does not know that the job was prepared, as after a restore. `rewards`: only those of
 * live traffic can follow. `ended`: the work is done, which a paused job waits with.
 */
export type Rest =
  { kind: 'again' | 'unprepared' | 'rewards' } | { kind: 'ended'; end: JobEnd } | { kind: 'failed'; fault: JobFault };

export interface DriveResult {
  rest: Rest;
  /** null: not read. */
  progress: JobProgress | null;
}

/** A slice of work, and what Temporal shows of the job after it; null: the job ends. */
export interface ShownSlice extends DriveResult {
  row: ShownRow | null;
}

/** Gives the lease back. */
export async function startNothing(tx: Tx, { job, token }: RunnerContext): Promise<() => Promise<DriveResult>> {
  await releaseLease(tx, job.jobId, token);
  return () => Promise.resolve({ rest: { kind: 'unprepared' }, progress: null });
}

/** A spent budget or quota ends a job as its end does; other faults end it at once. */
export function restOfFault(fault: JobFault): Rest {
  return isSpending(fault.code) ? { kind: 'ended', end: { kind: 'failed', fault } } : { kind: 'failed', fault };
}
