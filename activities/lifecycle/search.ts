/** What sessions and graph jobs have in common. */
import { createGepa } from '../../src/core/algorithms/gepa/state.js';
import { SearchProgress } from '../../src/core/algorithms/progress.js';
import { endEvents, searchResults } from '../../src/core/events/jobs.js';
import { progressOfSearch, type JobProgress } from '../../src/core/jobs/progress.js';
import { unitOf } from '../../src/core/jobs/unit.js';
import type { SearchSpec } from '../../src/core/jobs/spec.js';
import { stopAdvice } from '../../src/core/jobs/endings.js';
import type { Tx } from '../../src/platform/db/db.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { writeDecision } from '../../src/jobs/store/decisions/record.js';
import { readSearch, saveSearch } from '../../src/jobs/store/step-log.js';
import { endedAs, type JudgedEnd, type JobClose } from './kind.js';
import { recordSearchUpdate } from '../jobs/search-update.js';
import { recordLost, suggestionsOf } from '../jobs/spec.js';

/** Begins a search, or goes on with that of an extended session; idempotent. */
export async function beginSearch(tx: Tx, job: JobRef, spec: SearchSpec, run: number): Promise<JobProgress> {
  const recorded = await readSearch(tx, job.jobId);
  if (!recorded && run > 1) throw recordLost(job);
  const search = recorded?.search ?? new SearchProgress(createGepa(spec.search), 0);
  if (!recorded) await writeDecision(tx, job, { projection: { phase: search.view.phase ?? null } }, 'running');
  if (recorded && recorded.run < run) {
    const update = search.extend(spec.search);
    if (update) await recordSearchUpdate(tx, job, unitOf(spec), update);
  }
  if (recorded?.run !== run) await saveSearch(tx, job, search, run);
  return progressOfSearch(job.jobId, search, suggestionsOf(spec));
}

export function endSearch(
  _tx: Tx,
  { jobId }: JobRef,
  { spec, outcome, view }: JudgedEnd<SearchSpec>,
): Promise<JobClose> {
  const { status, stoppedBy, error } = outcome;
  const data = searchResults(jobId, stoppedBy, view);
  const note = status === 'completed' ? { note: stopAdvice(unitOf(spec), stoppedBy) ?? stoppedBy } : {};
  return Promise.resolve({ error, events: endEvents(spec.kind, endedAs(status, error), { ...note, data }) });
}
