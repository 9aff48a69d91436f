/** Whose rows a request looks at. */
import { candidateId as idOfCandidate } from '../../core/jobs/ids.js';
import type { SearchSpec } from '../../core/jobs/spec.js';
import type { EvaluationHead, GraphHead, JobRow, SessionHead } from '../../jobs/store/jobs.js';
import { readSpec } from '../../jobs/store/spec.js';
import { readPrompt } from '../../candidates/store/reads.js';
import type { Tx } from '../../platform/db/db.js';
import { refuse } from '../../platform/http/server/errors.js';
import type { RowsOf } from './select.js';

/** The rows of a search. Throws if the job has no such candidate. */
export async function rowsOfSearch(
  tx: Tx,
  job: JobRow<SessionHead | GraphHead>,
  { candidate_id: asked }: { candidate_id?: string | undefined },
): Promise<RowsOf> {
  const { jobId, spec, projection } = job;
  if (asked !== undefined && !(await readPrompt(tx, jobId, asked))) {
    const message = 'must be a candidate of the job';
    throw refuse.invalid([{ pointer: '/candidate_id', message }], 'candidate_not_found');
  }
  const baselineId = idOfCandidate(jobId, 0);
  const { search } = await readSpec<SearchSpec>(tx, jobId);
  const heldOut = new Set(search.heldoutSeeds);
  return {
    jobId,
    baselineId,
    candidateId: asked ?? projection.bestCandidateId ?? baselineId,
    source: spec.kind === 'graph' ? null : (spec.rows ?? null),
    isSeen: (seed) => !heldOut.has(seed),
  };
}

/** The rows of an evaluation, which has no search. */
export function rowsOfEvaluation({ jobId, spec }: JobRow<EvaluationHead>): RowsOf {
  return { jobId, baselineId: null, candidateId: null, source: spec.rows ?? null, isSeen: () => false };
}
