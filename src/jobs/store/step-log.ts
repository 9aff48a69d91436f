/**
 * The state of a search: its last snapshot, and the inputs of the steps since. Whoever writes holds
 * the job's lease, or its lock before the first and after the last rollout.
 */
import type { AnySearchState } from '../../core/algorithms/index.js';
import { SearchProgress, type SearchInput } from '../../core/algorithms/progress.js';
import type { Tx } from '../../platform/db/db.js';
import { toJsonb } from '../../platform/db/json.js';
import type { JobRef } from './events.js';

/** Records a step's input before what follows from it; a repeated one changes nothing. */
export async function recordInput(tx: Tx, job: JobRef, step: number, input: SearchInput): Promise<void> {
  await tx.query(
    `insert into search_inputs (job_id, org_id, step, input) values ($1, $2, $3, $4)
     on conflict (job_id, step) do nothing`,
    [job.jobId, job.orgId, step, JSON.stringify(input)],
    'record_search_input',
  );
}

/** A search as it is on record. */
export interface RecordedSearch {
  search: SearchProgress;
  /** The run of the job that it belongs to. */
  run: number;
  usedMs: number;
}

/** Null: the search has not begun. */
export async function readSearch(tx: Tx, jobId: string): Promise<RecordedSearch | null> {
  const [[snapshot], inputs] = await Promise.all([
    tx.query<{ run: number; step: number; state: AnySearchState; used_ms: number }>(
      'select run, step, state, used_ms from search_states where job_id = $1',
      [jobId],
      'read_search_state',
    ),
    tx.query<{ input: SearchInput }>(
      'select input from search_inputs where job_id = $1 order by step',
      [jobId],
      'read_search_inputs',
    ),
  ]);
  if (!snapshot) return null;
  const search = new SearchProgress(snapshot.state, snapshot.step);
  search.replay(inputs.map(({ input }) => input));
  return { search, run: snapshot.run, usedMs: snapshot.used_ms };
}

/** Replaces the snapshot, and deletes the inputs that are in it. */
export async function saveSearch(tx: Tx, job: JobRef, { state, steps }: SearchProgress, run: number): Promise<void> {
  await Promise.all([
    tx.query(
      `insert into search_states (job_id, org_id, run, step, state) values ($1, $2, $3, $4, $5)
       on conflict (job_id) do update set run = excluded.run, step = excluded.step, state = excluded.state`,
      [job.jobId, job.orgId, run, steps, toJsonb(state)],
      'save_search_state',
    ),
    tx.query('delete from search_inputs where job_id = $1', [job.jobId], 'delete_search_inputs'),
  ]);
}

/** The running time of a job's earlier runs, in milliseconds. */
export async function readUsedTime(tx: Tx, jobId: string): Promise<number> {
  const [row] = await tx.query<{ ms: number }>('select used_ms as ms from search_states where job_id = $1', [jobId]);
  return row?.ms ?? 0;
}

/** Adds the running time of a run that has ended. */
export async function addUsedTime(tx: Tx, jobId: string, ms: number): Promise<void> {
  await tx.query('update search_states set used_ms = used_ms + $2 where job_id = $1', [jobId, Math.round(ms)]);
}

/** Forgets a search that will not go on. */
export async function deleteSearch(tx: Tx, jobId: string): Promise<void> {
  await Promise.all([
    tx.query('delete from search_states where job_id = $1', [jobId]),
    tx.query('delete from search_inputs where job_id = $1', [jobId], 'delete_search_inputs'),
  ]);
}
