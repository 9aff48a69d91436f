/** What a person decides of a better winner. */
import type { CheckupSpec } from '../../../core/jobs/spec.js';
import { lockJob, type JobRef } from '../../../jobs/store/events.js';
import type { Approval, CheckupProjection } from '../../../jobs/store/projection.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { toJsonb } from '../../../platform/db/json.js';
import type { Tx } from '../../../platform/db/db.js';
import { insertWinner, whyNotDeployable } from './jobs.js';
import { readParts } from './record.js';
import { readResults } from '../../deployment/store/parts.js';

/** A decision, and who takes it. */
export interface Decision {
  approve: boolean;
  reason: string | null;
  keyId: string | null;
}

/** `created`: a deployment to start. `refused`: the name cannot take it now. */
export type Decided =
  | { kind: 'decided'; created: string | null }
  | { kind: 'not_awaiting'; approval: Approval | null }
  | { kind: 'refused'; approval: Approval; why: string };

/** Approves or rejects, once; the same decision again changes nothing. */
export async function decide(tx: Tx, job: JobRef, { approve, reason, keyId }: Decision): Promise<Decided> {
  await lockJob(tx, job);
  const [row] = await tx.query<{ projection: CheckupProjection }>('select projection from jobs where id = $1', [
    job.jobId,
  ]);
  const { approval = null } = row!.projection;
  const wanted = approve ? 'approved' : 'rejected';
  if (approval === wanted) return { kind: 'decided', created: null };
  if (approval !== 'pending') return { kind: 'not_awaiting', approval };
  if (!approve) {
    await note(tx, job, { approval: wanted });
    return { kind: 'decided', created: null };
  }
  const spec = await readSpec<CheckupSpec>(tx, job.jobId);
  const why = await whyNotDeployable(tx, spec);
  if (why?.isMoved) await note(tx, job, { approval: 'expired' });
  if (why) return { kind: 'refused', approval: why.isMoved ? 'expired' : 'pending', why: why.reason };
  const { session } = await readResults(tx, await readParts(tx, job.jobId));
  const deploymentId = await insertWinner(tx, job, spec, { winner: session!.winner!, keyId, reason });
  await note(tx, job, { approval: wanted, deploymentId });
  return { kind: 'decided', created: deploymentId };
}

async function note(tx: Tx, { jobId }: JobRef, found: CheckupProjection): Promise<void> {
  await tx.query('update jobs set projection = projection || $2::jsonb where id = $1', [jobId, toJsonb(found)]);
}
