import type { JobFault } from '../../src/core/jobs/fault.js';
import type { DeploymentSpec } from '../../src/core/jobs/spec.js';
import { evaluateGate } from '../../src/core/deployments/gate.js';
import { isDeleted, readLive, setGateResult, setSnapshot, promote } from '../../src/storage/deployments/deployments.js';
import type { Tx } from '../../src/storage/db/db.js';
import { deploymentBuilding, gateJudged, snapshotFrozen } from '../../src/core/events/deployments.js';
import { endEvents } from '../../src/core/events/jobs.js';
import { appendEvents, lockJob, type JobRef } from '../../src/storage/jobs/events.js';
import {
  gateJobId,
  insertGateEvaluation,
  readRewards,
  type GateEvaluation,
} from '../../src/storage/deployments/gate.js';
import { finishJob } from '../../src/storage/decisions/record.js';
import { baselineSource, readContent, readSnapshot, putSnapshot } from '../../src/storage/deployments/snapshots.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import { insertTrace, readTrace } from '../../src/storage/jobs/traces.js';
import { jobSpan } from '../../src/tracing/spans.js';
import type { ActivityDeps } from '../deps.js';
import { jobFailure } from '../errors.js';
import { containerKey, lockOpenJob } from '../jobs/spec.js';

export interface GateRun {
  jobId: string;
  evaluation: GateEvaluation;
}

/** The incumbent of a gate: the live deployment, or the baseline (`deploymentId` null). */
export interface Incumbent {
  run: GateRun;
  deploymentId: string | null;
}

export function deploymentActivities({ db, secretKey, metrics }: ActivityDeps) {
  return {
    /** Stores a snapshot of the deployment's source. Returns its gate's evaluation, or null. */
    snapshotSource: (job: JobRef): Promise<{ candidate: GateRun | null; comparesWith: 'incumbent' | 'nothing' }> =>
      db.org(job.orgId, async (tx) => {
        await lockUndeleted(tx, job);
        const spec = await readSpec<DeploymentSpec>(tx, job.jobId);
        const snapshotId = await findOrCreateSnapshot(tx, job, spec);
        await tx.query(
          'update jobs set started_at = coalesce(started_at, now()), workflow_started = true where id = $1',
          [job.jobId],
        );
        await appendEvents(tx, job, [deploymentBuilding(spec.name), snapshotFrozen(snapshotId)]);
        return {
          candidate: spec.gate && gateRun(job, 0, snapshotId),
          comparesWith: spec.gate?.minImprovement != null ? 'incumbent' : 'nothing',
        };
      }),

    /** Returns the current incumbent; `round` is the number of earlier calls. */
    nextIncumbent: ({ round, ...job }: JobRef & { round: number }): Promise<Incumbent> =>
      db.org(job.orgId, async (tx) => {
        await lockUndeleted(tx, job);
        const { name, source, rows } = await readSpec<DeploymentSpec>(tx, job.jobId);
        const live = await readLive(tx, name);
        if (live && rows) await requireMessages(tx, name, live.snapshotId);
        if (live) return { run: gateRun(job, round + 1, live.snapshotId), deploymentId: live.id };
        const baseline = baselineSource(source);
        const content = baseline && (await readContent(tx, baseline));
        const snapshotId = content && (await putSnapshot(tx, job.orgId, content));
        return { run: gateRun(job, round + 1, snapshotId), deploymentId: null };
      }),

    openGateEvaluation: ({
      evaluation,
      workflowId,
      ...job
    }: JobRef & { evaluation: GateEvaluation; workflowId: string }) =>
      db.org(job.orgId, async (tx) => {
        const { deploymentId, snapshotId } = evaluation;
        const deployment = { orgId: job.orgId, jobId: deploymentId };
        await lockUndeleted(tx, deployment);
        const spec = await readSpec<DeploymentSpec>(tx, deployment.jobId);
        const containerApiKey = await containerKey(tx, secretKey, deployment, spec);
        const isNew = await insertGateEvaluation(tx, secretKey, spec, { job, workflowId, snapshotId, containerApiKey });
        const trace = isNew && (await readTrace(tx, deploymentId));
        if (trace) await insertTrace(tx, job, { ...trace, parentId: jobSpan(trace).spanId });
      }),

    /** Judges the gate by its evaluations and records the result; rejects if it failed. */
    concludeGate: async ({
      candidate,
      incumbent,
      ...job
    }: JobRef & { candidate: GateRun; incumbent: Incumbent | null }): Promise<void> => {
      const verdict = await db.org(job.orgId, async (tx) => {
        await lockOpenJob(tx, job);
        const { gate } = await readSpec<DeploymentSpec>(tx, job.jobId);
        const verdict = evaluateGate(gate!, {
          candidate: await readRewards(tx, candidate.jobId),
          incumbent: incumbent && (await readRewards(tx, incumbent.run.jobId)),
        });
        const { passed, candidateReward, incumbentReward, comparison, message } = verdict;
        await setGateResult(tx, job.jobId, {
          candidate: { jobId: candidate.jobId, reward: candidateReward },
          incumbent: incumbent && {
            ...{ jobId: incumbent.run.jobId, deploymentId: incumbent.deploymentId, reward: incumbentReward },
          },
          comparison,
          passed,
        });
        const data = { passed, reward: candidateReward, incumbent_reward: incumbentReward, comparison };
        await appendEvents(tx, job, [gateJudged(incumbent?.run.jobId ?? candidate.jobId, message, data)]);
        return verdict;
      });
      if (!verdict.passed)
        throw jobFailure('gate_not_passed', `${verdict.message} Its name serves what it served before.`);
    },

    /**
     * Makes the deployment live and closes its job. `against`: the deployment that its gate
     * compared it with; `moved`: another deployment is live by now, and nothing was done.
     */
    async promoteDeployment({ against, ...job }: JobRef & { against?: string | null }): Promise<'done' | 'moved'> {
      const { result, isClosed } = await db.org(job.orgId, async (tx) => {
        // An earlier attempt did it, and its result was lost.
        if ((await lockJob(tx, job)).status === 'completed') return { result: 'done' as const, isClosed: false };
        await lockOpenJob(tx, job);
        const result = await promote(tx, job, against);
        if (result === 'moved') return { result, isClosed: false };
        if (result === 'deleted') throw deleted();
        const isClosed = await finishJob(tx, job, {
          ...{ status: 'completed', stoppedBy: null, error: null, accepted: [] },
          events: endEvents('deployment', { status: 'completed' }, { note: 'ready and live' }),
        });
        return { result: 'done' as const, isClosed };
      });
      if (isClosed) metrics.jobEnded('deployment', 'completed');
      return result;
    },

    async closeDeployment({
      ending: { status, error },
      ...job
    }: JobRef & { ending: { status: 'failed' | 'cancelled'; error: JobFault | null } }): Promise<void> {
      const events = endEvents('deployment', error ? { status: 'failed', error } : { status: 'cancelled' });
      const isClosed = await db.org(job.orgId, (tx) =>
        finishJob(tx, job, { status, stoppedBy: status, error, accepted: [], events }),
      );
      if (isClosed) metrics.jobEnded('deployment', status);
    },
  };
}

/** Fails unless a live snapshot can answer rows: a graph, or marked spans, need a container. */
async function requireMessages(tx: Tx, name: string, snapshotId: string): Promise<void> {
  const { content } = (await readSnapshot(tx, snapshotId))!;
  if (content.kind === 'messages' && !content.levers_marked) return;
  const what = content.kind === 'graph' ? 'a graph' : 'a prompt of spans inside the calls of a container';
  const message = `The gate runs on a data set, but ${name} serves ${what}. Use a gate with container_url, or min_reward.`;
  throw jobFailure('gate_not_comparable', message);
}

/** Locks the job of a deployment; fails where the deployment was deleted. */
async function lockUndeleted(tx: Tx, job: JobRef): Promise<void> {
  await lockOpenJob(tx, job);
  if (await isDeleted(tx, job.jobId)) throw deleted();
}

function deleted() {
  return jobFailure('deployment_deleted', 'The deployment was deleted before it was ready.');
}

function gateRun({ jobId }: JobRef, number: number, snapshotId: string | null): GateRun {
  return { jobId: gateJobId(jobId, number), evaluation: { deploymentId: jobId, snapshotId } };
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
