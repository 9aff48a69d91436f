import type { StoredSpec } from '../../core/jobs/spec.js';
import type { Tx } from '../../platform/db/db.js';
import { JobGoneError } from './events.js';

/** The validated request of a job. */
export async function readSpec<Spec extends StoredSpec>(tx: Tx, jobId: string): Promise<Spec> {
  const spec = await findSpec<Spec>(tx, jobId);
  if (!spec) throw new JobGoneError(`The job ${jobId} is not in the database.`);
  return spec;
}

/** The request that created a job, without secrets and labels; null: no request did. */
export async function readRequest(tx: Tx, jobId: string): Promise<Record<string, unknown> | null> {
  const [row] = await tx.query<{ request: Record<string, unknown> | null }>('select request from jobs where id = $1', [
    jobId,
  ]);
  return row?.request ?? null;
}

/** The validated request of a job; null: no such job. */
export async function findSpec<Spec extends StoredSpec>(tx: Tx, jobId: string): Promise<Spec | null> {
  const [row] = await tx.query<{ spec: Spec }>('select spec from jobs where id = $1', [jobId], 'read_spec');
  return row?.spec ?? null;
}
