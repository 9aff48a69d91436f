import type { JobFault } from '../../src/core/jobs/fault.js';
import { isSpending, type JobEnd } from '../../src/core/jobs/outcome.js';
import type { JobProgress } from '../../src/core/jobs/progress.js';
import type { ControlState } from '../../src/jobs/store/decisions/record.js';
import type { SearchRequest } from '../../src/core/search/protocol.js';
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

/** What a slice of work came to. `progress` null: not read. */
export interface Driven {
  rest: Rest;
  progress: JobProgress | null;
}

/** A slice of work, and what Temporal shows of the job after it. */
export interface ShownSlice extends Driven {
  /** That of the job as the slice began; null: it did not begin. */
  state: ControlState | null;
  /** Null: the job ends. */
  row: ShownRow | null;
}

/** Gives the lease back. */
export async function startNothing(tx: Tx, { job, token }: RunnerContext): Promise<() => Promise<Driven>> {
  await releaseLease(tx, job.jobId, token);
  return () => Promise.resolve({ rest: { kind: 'unprepared' }, progress: null });
}

/** A spent budget or quota ends a job as its end does; other faults end it at once. */
export function restOfFault(fault: JobFault): Rest {
  return isSpending(fault.code) ? { kind: 'ended', end: { kind: 'failed', fault } } : { kind: 'failed', fault };
}

export function endOfSearch(request: Extract<SearchRequest, { kind: 'done' | 'failed' }>): JobEnd {
  if (request.kind === 'done') return { kind: 'completed', stoppedBy: request.stoppedBy };
  const { code, message } = request;
  return { kind: 'failed', fault: { code, message, retryable: false } };
}
