import { endEvents, evaluationResults, searchResults, stopAdvice, type JobEnd } from '../../src/core/events/jobs.js';
import { withCause } from '../../src/core/jobs/failures.js';
import { jobKinds, type JobKind } from '../../src/core/jobs/kinds.js';
import type { EvaluationSpec } from '../../src/core/jobs/spec.js';
import type { SearchView } from '../../src/core/search/protocol.js';
import { finishJob, type ClosedState, type ErrorDetails } from '../../src/storage/decisions/record.js';
import type { Tx } from '../../src/storage/db/db.js';
import { lockJob, type JobRef } from '../../src/storage/jobs/events.js';
import { keepSearch, type KeptSearch } from '../../src/storage/jobs/extensions.js';
import { deleteInputs } from '../../src/storage/jobs/search-inputs.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import { readCommonestCause } from '../../src/storage/rollouts/failure-causes.js';
import { readTotals } from '../../src/storage/rollouts/totals.js';
import { searchState } from './search-update.js';

export interface JobResult {
  ending: { status: 'completed' | 'failed' | 'cancelled'; stoppedBy: string; error: ErrorDetails | null };
  /** The last step of its search; a newer recorded state of the search is kept. */
  steps?: number;
  /** The state of its search; null: an evaluation, or no decision yet. */
  search: SearchView | null;
  /** The commands that ended it. */
  accepted: string[];
  /** The end of its search, for an extension; absent: it cannot be extended. */
  kept?: KeptSearch;
  /** The workflow that ends. */
  workflowId: string;
}

/** Ends a job. Returns its kind, or null where it was closed already. */
export async function endJob(tx: Tx, job: JobRef, result: JobResult): Promise<JobKind | null> {
  // Take the lock first: a runner may still be recording outcomes.
  const { kind, step } = await lockJob(tx, job);
  const { status, stoppedBy } = result.ending;
  const failure = result.ending.error;
  const quoted = failure && withCause(failure, await readCommonestCause(tx, job.jobId));
  const ended = { ...result, ending: { ...result.ending, error: quoted } };
  const { error, events } = jobKinds[kind].isSearch
    ? searchEnd(job, kind, ended)
    : await evaluationEnd(tx, job, kind, ended);
  const isClosed = await finishJob(tx, job, {
    status,
    stoppedBy: stoppedBy === 'completed' ? null : stoppedBy,
    error,
    ...(result.search && (step ?? 0) <= (result.steps ?? 0) && searchState(job.jobId, result.search)),
    events,
    workflowId: result.workflowId,
    accepted: result.accepted,
  });
  if (!isClosed) return null;
  // A state behind the recorded steps is no start for an extension.
  const kept = result.kept && result.kept.steps >= (step ?? 0) ? result.kept : null;
  await Promise.all([deleteInputs(tx, job.jobId), kept && keepSearch(tx, job, kept)]);
  return kind;
}

type End = Pick<ClosedState, 'error' | 'events'>;

function searchEnd({ jobId }: JobRef, kind: JobKind, { ending, search }: JobResult): End {
  const { status, stoppedBy, error } = ending;
  const data = searchResults(jobId, stoppedBy, search);
  const note = status === 'completed' ? { note: stopAdvice(kind, stoppedBy) ?? stoppedBy } : {};
  return { error, events: endEvents(kind, jobEnd(status, error), { ...note, data }) };
}

async function evaluationEnd(tx: Tx, job: JobRef, kind: JobKind, { ending }: JobResult): Promise<End> {
  const totals = await evaluationTotals(tx, job);
  const error = ending.error && withProgress(ending.error, totals);
  const events = endEvents(kind, jobEnd(ending.status, error), {
    note: `mean reward ${totals.meanReward ?? 'none'}`,
    data: evaluationResults(totals),
  });
  return { error, events };
}

function jobEnd(status: JobResult['ending']['status'], error: ErrorDetails | null): JobEnd {
  return status === 'failed' ? { status, error: error ?? unknownError } : { status };
}

const unknownError: ErrorDetails = { code: 'internal', message: 'No reason was recorded.', retryable: false };

/** Adds the number of finished seeds to a time-out. */
function withProgress(error: ErrorDetails, { succeeded, failed, total }: Totals): ErrorDetails {
  if (error.code !== 'timeout') return error;
  return { ...error, message: `${error.message} ${succeeded + failed} of ${total} seeds have a result.` };
}

type Totals = Awaited<ReturnType<typeof evaluationTotals>>;

/** `total` comes from the request: a job that fails early has no rollouts. */
async function evaluationTotals(tx: Tx, job: JobRef) {
  const { seeds } = await readSpec<EvaluationSpec>(tx, job.jobId);
  const { succeeded, failed, meanReward } = await readTotals(tx, job.jobId);
  return { total: seeds.length, succeeded, failed, meanReward };
}
