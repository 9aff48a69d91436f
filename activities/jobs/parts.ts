/** Jobs that run other jobs, one after the other: what their workflow does next. */
import { jobKinds, kindOf } from '../../src/core/jobs/kinds.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { AnyProjection } from '../../src/jobs/store/projection.js';
import { insertTrace, readTrace } from '../../src/jobs/store/traces.js';
import type { Tx } from '../../src/platform/db/db.js';
import { jobSpan } from '../../src/tracing/spans.js';

/** A job to run. */
export interface PartJob {
  part: string;
  jobId: string;
  algorithm: string;
  /** The name that its parent is of. */
  name: string;
  title: string;
}

/** `deployment`: its id where one is to be started. */
export type Advanced =
  { kind: 'run'; job: PartJob } | { kind: 'ended'; deployment: { jobId: string; name: string } | null };

/** The job of a part; `algorithm`: of a session. */
export function runPart(
  part: string,
  jobId: string,
  { name, algorithm }: { name: string; algorithm: string },
): Advanced {
  return { kind: 'run', job: { part, jobId, algorithm, name, title: jobKinds[kindOf(jobId)!].title(algorithm) } };
}

export const endedWith = (name: string, deploymentId: string | undefined): Advanced => ({
  kind: 'ended',
  deployment: deploymentId === undefined ? null : { jobId: deploymentId, name },
});

/** Notes that the workflow of a job runs. */
export async function noteRunning(tx: Tx, { jobId }: JobRef): Promise<void> {
  await tx.query('update jobs set started_at = coalesce(started_at, now()), workflow_started = true where id = $1', [
    jobId,
  ]);
}

/** Gives a new job a span below that of its parent. */
export async function tracePart(tx: Tx, parent: JobRef, jobId: string): Promise<void> {
  const trace = await readTrace(tx, parent.jobId);
  if (trace) await insertTrace(tx, { orgId: parent.orgId, jobId }, { ...trace, parentId: jobSpan(trace).spanId });
}

export async function readProjection<Projection extends AnyProjection>(tx: Tx, { jobId }: JobRef): Promise<Projection> {
  const [row] = await tx.query<{ projection: Projection }>('select projection from jobs where id = $1', [jobId]);
  return row!.projection;
}

/** The key that created a job; null: the service. */
export async function readKey(tx: Tx, { jobId }: JobRef): Promise<string | null> {
  const [row] = await tx.query<{ key: string | null }>('select key_id as key from jobs where id = $1', [jobId]);
  return row!.key;
}
