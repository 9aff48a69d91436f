import { endEvents, evaluationResults, searchResults, stopAdvice, type EndedAs } from '../../src/core/events/jobs.js';
import { withCause } from '../../src/core/jobs/failures.js';
import type { JobFault } from '../../src/core/jobs/fault.js';
import { jobKinds, type JobKind } from '../../src/core/jobs/kinds.js';
import { outcomeOf, type JobEnd, type JobOutcome } from '../../src/core/jobs/outcome.js';
import type { EvaluationSpec, JobSpec } from '../../src/core/jobs/spec.js';
import type { SearchView } from '../../src/core/search/protocol.js';
import { finishJob, type ClosedState } from '../../src/storage/decisions/record.js';
import type { Tx } from '../../src/storage/db/db.js';
import { lockJob, type JobRef } from '../../src/storage/jobs/events.js';
import { addUsedTime, deleteSearch, readSearch } from '../../src/storage/jobs/step-log.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import { readCommonestCause } from '../../src/storage/rollouts/failure-causes.js';
import { readCounts } from '../../src/storage/rollouts/outcome-counts.js';
import { readTotals } from '../../src/storage/rollouts/totals.js';
import { searchState } from './search-update.js';
import { isLive } from './spec.js';

export interface EndedWork {
  end: JobEnd;
  /** The commands that ended it. */
  accepted: string[];
  /** Running time of this run, in milliseconds, where a limit bounds it. */
  usedMs: number;
  /** The workflow that ends. */
  workflowId: string;
}

/** Ends a job by its record. Returns its kind, or null where it was closed already. */
export async function endJob(tx: Tx, job: JobRef, work: EndedWork): Promise<JobKind | null> {
  // Take the lock first: a runner may still be recording outcomes.
  const row = await lockJob(tx, job);
  const { kind } = row;
  const spec = await readSpec<JobSpec>(tx, job.jobId);
  const [counts, recorded] = await Promise.all([
    readCounts(tx, job.jobId, row, spec.maxFailureRate),
    jobKinds[kind].isSearch ? readSearch(tx, job.jobId) : null,
  ]);
  const view = recorded?.search.view ?? null;
  const outcome = outcomeOf(work.end, { spec, counts, hasBest: view !== null && view.bestCandidate !== null });
  const error = outcome.error && withCause(outcome.error, await readCommonestCause(tx, job.jobId));
  const ended = { ...outcome, error };
  const last =
    spec.kind === 'evaluation' ? await evaluationEnd(tx, job, spec, ended) : searchEnd(job, kind, ended, view);
  const isClosed = await finishJob(tx, job, {
    status: ended.status,
    stoppedBy: ended.stoppedBy === 'completed' ? null : ended.stoppedBy,
    ...(view && searchState(job.jobId, view)),
    ...last,
    workflowId: work.workflowId,
    accepted: work.accepted,
  });
  if (!isClosed) return null;
  // An extension goes on from the log.
  if (spec.kind === 'session' && !isLive(spec)) await addUsedTime(tx, job.jobId, work.usedMs);
  else if (recorded) await deleteSearch(tx, job.jobId);
  return kind;
}

type End = Pick<ClosedState, 'error' | 'events'>;

function searchEnd(
  { jobId }: JobRef,
  kind: JobKind,
  { status, stoppedBy, error }: JobOutcome,
  view: SearchView | null,
): End {
  const data = searchResults(jobId, stoppedBy, view);
  const note = status === 'completed' ? { note: stopAdvice(kind, stoppedBy) ?? stoppedBy } : {};
  return { error, events: endEvents(kind, endedAs(status, error), { ...note, data }) };
}

async function evaluationEnd(tx: Tx, job: JobRef, { kind, seeds }: EvaluationSpec, ended: JobOutcome): Promise<End> {
  const totals = await evaluationTotals(tx, job, seeds.length);
  const error = ended.error && withProgress(ended.error, totals);
  const events = endEvents(kind, endedAs(ended.status, error), {
    note: `mean reward ${totals.meanReward ?? 'none'}`,
    data: evaluationResults(totals),
  });
  return { error, events };
}

function endedAs(status: JobOutcome['status'], error: JobFault | null): EndedAs {
  return status === 'failed' ? { status, error: error ?? unknownError } : { status };
}

const unknownError: JobFault = { code: 'internal', message: 'No reason was recorded.', retryable: false };

/** Adds the number of finished seeds to a time-out. */
function withProgress(error: JobFault, { succeeded, failed, total }: Totals): JobFault {
  if (error.code !== 'timeout') return error;
  return { ...error, message: `${error.message} ${succeeded + failed} of ${total} seeds have a result.` };
}

type Totals = Awaited<ReturnType<typeof evaluationTotals>>;

/** `total` comes from the request: a job that fails early has no rollouts. */
async function evaluationTotals(tx: Tx, job: JobRef, total: number) {
  const { succeeded, failed, meanReward } = await readTotals(tx, job.jobId);
  return { total, succeeded, failed, meanReward };
}
