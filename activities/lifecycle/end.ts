import { withCause } from '../../src/core/jobs/failures.js';
import { jobKinds, type JobKind } from '../../src/core/jobs/kinds.js';
import { outcomeOf, type JobEnd } from '../../src/core/jobs/outcome.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import { isTerminal } from '../../src/core/jobs/status.js';
import { finishJob } from '../../src/jobs/store/decisions/record.js';
import type { Tx } from '../../src/platform/db/db.js';
import { lockJob, type JobRef } from '../../src/jobs/store/events.js';
import { addUsedTime, deleteSearch, readSearch } from '../../src/jobs/store/step-log.js';
import { readSpec } from '../../src/jobs/store/spec.js';
import { readCommonestCause } from '../../src/rollouts/store/failure-causes.js';
import { haveEnded } from '../../src/rollouts/store/rollouts.js';
import { readCounts } from '../../src/rollouts/store/outcome-counts.js';
import { activitiesOf } from './kinds.js';
import { searchState } from '../jobs/search-update.js';
import { isLive } from '../jobs/spec.js';
import { requireOwn } from '../own-job.js';
import { endOfSearch } from '../drive/rest.js';

export interface EndedWork {
  end: JobEnd;
  /** The commands that ended it. */
  accepted: string[];
  /** Running time of this run, in milliseconds, where a limit bounds it. */
  usedMs: number;
}

/**
 * Ends a job by its record. Returns its kind; null: it was closed already; `unfinished`: work is
 * left on record, as after an operator completed an activity by hand.
 */
export async function endJob(tx: Tx, job: JobRef, work: EndedWork): Promise<JobKind | null | 'unfinished'> {
  // Take the lock first: a runner may still be recording outcomes.
  const row = await lockJob(tx, job);
  if (!isTerminal(row.status)) requireOwn(row, job);
  const { kind } = row;
  const spec = await readSpec<JobSpec>(tx, job.jobId);
  const [counts, recorded] = await Promise.all([
    readCounts(tx, job.jobId, row, spec.maxFailureRate),
    jobKinds[kind].isSearch ? readSearch(tx, job.jobId) : null,
  ]);
  const end = isTerminal(row.status) ? work.end : await recordedEnd(tx, job, spec, { end: work.end, recorded });
  if (end === 'unfinished') return end;
  const view = recorded?.search.view ?? null;
  const outcome = outcomeOf(end, { spec, counts, hasBest: view !== null && view.bestCandidate !== null });
  const error = outcome.error && withCause(outcome.error, await readCommonestCause(tx, job.jobId));
  const ended = { ...outcome, error };
  const last = await activitiesOf(spec).end(tx, job, { spec, outcome: ended, view });
  const isClosed = await finishJob(tx, job, {
    status: ended.status,
    stoppedBy: ended.stoppedBy === 'completed' ? null : ended.stoppedBy,
    ...(view && searchState(job.jobId, view)),
    ...last,
    accepted: work.accepted,
  });
  if (!isClosed) return null;
  // An extension goes on from the log.
  if (spec.kind === 'session' && !isLive(spec)) await addUsedTime(tx, job.jobId, work.usedMs);
  else if (recorded) await deleteSearch(tx, job.jobId);
  return kind;
}

/** The end of work that says it is complete, as the record has it. */
async function recordedEnd(
  tx: Tx,
  { jobId }: JobRef,
  spec: JobSpec,
  { end, recorded }: { end: JobEnd; recorded: Awaited<ReturnType<typeof readSearch>> },
): Promise<JobEnd | 'unfinished'> {
  if (end.kind !== 'completed' || end.stoppedBy === 'reward_stop') return end;
  if (spec.kind === 'evaluation') return (await haveEnded(tx, jobId, 0, spec.seeds.length)) ? end : 'unfinished';
  const request = recorded?.search.next();
  return request?.kind === 'done' || request?.kind === 'failed' ? endOfSearch(request) : 'unfinished';
}
