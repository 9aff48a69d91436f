import type { SearchInput } from '../../core/algorithms/progress.js';
import type { Tx } from '../db/db.js';
import type { JobRef } from './events.js';

/** Records the input of a step of a search, before anything that follows from it is requested. */
export async function recordInput(tx: Tx, job: JobRef, step: number, input: SearchInput): Promise<void> {
  await tx.query(
    `insert into search_inputs (job_id, org_id, step, input) values ($1, $2, $3, $4)
     on conflict (job_id, step) do update set input = excluded.input`,
    [job.jobId, job.orgId, step, JSON.stringify(input)],
    'record_search_input',
  );
}

/**
 * The recorded inputs after `step`, in order. Deletes those before, which the workflow has, and all
 * where the next one is missing: Temporal was restored from an older backup.
 */
export async function readInputs(tx: Tx, jobId: string, step: number): Promise<SearchInput[]> {
  const [rows] = await Promise.all([
    tx.query<{ step: number; input: SearchInput }>(
      'select step, input from search_inputs where job_id = $1 and step > $2 order by step',
      [jobId, step],
      'read_search_inputs',
    ),
    tx.query('delete from search_inputs where job_id = $1 and step <= $2', [jobId, step], 'forget_search_inputs'),
  ]);
  const [next] = rows;
  if (!next || next.step === step + 1) return rows.map(({ input }) => input);
  await deleteInputs(tx, jobId);
  return [];
}

/** Deletes all inputs of a job. */
export async function deleteInputs(tx: Tx, jobId: string): Promise<void> {
  await tx.query('delete from search_inputs where job_id = $1', [jobId], 'delete_search_inputs');
}
