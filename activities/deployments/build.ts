import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import type { DeploymentSpec } from '../../src/core/jobs/spec.js';
import { setSnapshot } from '../../src/kinds/deployment/store/deployments.js';
import { promote } from '../../src/kinds/deployment/store/names.js';
import type { Tx } from '../../src/platform/db/db.js';
import { deploymentBuilding, snapshotFrozen } from '../../src/core/events/deployments.js';
import { appendEvents, lockJob, type JobRef } from '../../src/jobs/store/events.js';
import { readContent, putSnapshot } from '../../src/kinds/deployment/store/snapshots.js';
import { readSpec } from '../../src/jobs/store/spec.js';
import type { ActivityDeps } from '../deps.js';
import { jobFailure } from '../errors.js';
import { closeJob, type Ending } from '../close-job.js';
import { lockOpenJob } from '../jobs/spec.js';
import { lockOwnOpenJob } from '../own-job.js';
import { closeLive } from './close-live.js';
import { gateActivities, gateRun, type GateRun } from './gate.js';
import { beginCanaryOf, canaryActivities } from './canary.js';
import { deleted, requireUndeleted } from './undeleted.js';

/** Builds a deployment: its snapshot, its gate, and its end. */
export function deploymentActivities(deps: ActivityDeps) {
  const { db, metrics } = deps;
  return {
    ...gateActivities(deps),
    ...canaryActivities(deps),

    /** Stores a snapshot of the deployment's source. Returns its gate's evaluation, or null. */
    snapshotSource: (job: JobRef): Promise<{ candidate: GateRun | null; comparesWith: 'incumbent' | 'nothing' }> =>
      db.org(job.orgId, async (tx) => {
        await lockOwnOpenJob(tx, job);
        await requireUndeleted(tx, job);
        const spec = await readSpec<DeploymentSpec>(tx, job.jobId);
        const snapshotId = await findOrCreateSnapshot(tx, job, spec);
        await tx.query(
          'update jobs set started_at = coalesce(started_at, now()), workflow_started = true where id = $1',
          [job.jobId],
        );
        await appendEvents(tx, job, [deploymentBuilding(spec.name), snapshotFrozen(snapshotId)]);
        return {
          candidate: spec.gate && gateRun(job, spec.name, 0, snapshotId),
          comparesWith: spec.gate?.minImprovement != null ? 'incumbent' : 'nothing',
        };
      }),

    /**
     * Makes the deployment live and closes its job, or begins its canary. `against`: what its gate
     * compared it with; `moved`: another deployment is live by now, and nothing was done.
     */
    async promoteDeployment({
      against,
      ...job
    }: JobRef & { against?: string | null }): Promise<'done' | 'canary' | 'moved'> {
      const { result, isClosed } = await db.org(job.orgId, async (tx) => {
        // An earlier attempt did it, and its result was lost.
        if ((await lockJob(tx, job)).status === 'completed') return { result: 'done' as const, isClosed: false };
        await lockOpenJob(tx, job);
        const { name, canary } = await readSpec<DeploymentSpec>(tx, job.jobId);
        const begun = canary && (await beginCanaryOf(tx, job, { name, plan: canary, judgedAgainst: against }));
        if (begun === 'begun') return { result: 'canary' as const, isClosed: false };
        const result = begun === 'moved' ? begun : await promote(tx, job, { judgedAgainst: against });
        if (result === 'moved') return { result, isClosed: false };
        if (result === 'deleted') throw deleted();
        return { result: 'done' as const, isClosed: await closeLive(tx, job) };
      });
      if (isClosed) metrics.jobEnded('deployment', 'completed');
      return result;
    },

    /** Closes the job of a deployment; returns its end on record, which may be an earlier one. */
    closeDeployment: ({ ending, ...job }: JobRef & { ending: Ending }): Promise<JobOutcome> =>
      closeJob(deps, 'deployment', job, ending),
  };
}

async function findOrCreateSnapshot(tx: Tx, job: JobRef, { source }: DeploymentSpec): Promise<string> {
  const [row] = await tx.query<{ id: string | null }>('select snapshot_id as id from deployments where id = $1', [
    job.jobId,
  ]);
  if (row?.id) return row.id;
  const content = await readContent(tx, source);
  if (!content) throw jobFailure('candidate_gone', 'The candidate of this deployment no longer exists.');
  const id = await putSnapshot(tx, job.orgId, content);
  await setSnapshot(tx, job.jobId, id);
  return id;
}
