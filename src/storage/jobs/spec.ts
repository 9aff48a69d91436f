import type { DeploymentSpec, JobSpec } from '../../core/jobs/spec.js';
import type { Tx } from '../db/db.js';
import { JobGoneError } from './events.js';

/** The validated request of a job. */
export async function readSpec<Spec extends JobSpec | DeploymentSpec>(tx: Tx, jobId: string): Promise<Spec> {
  const [row] = await tx.query<{ spec: Spec }>('select spec from jobs where id = $1', [jobId]);
  if (!row) throw new JobGoneError(`The job ${jobId} is not in the database.`);
  return row.spec;
}
