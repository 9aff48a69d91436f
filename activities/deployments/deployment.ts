import type { DeploymentSpec } from '../../src/core/jobs/spec.js';
import { evaluateGate } from '../../src/core/deployments/gate.js';
import { isDeleted, readLive, setGateResult, setSnapshot, promote } from '../../src/storage/deployments/deployments.js';
import type { Tx } from '../../src/storage/db/db.js';
import { appendEvents, lockJob, type JobRef, type NewEvent } from '../../src/storage/jobs/events.js';
import {
  gateJobId,
  insertGateEvaluation,
  readRewards,
  type GateEvaluation,
} from '../../src/storage/deployments/gate.js';
import { finishJob, type ErrorDetails } from '../../src/storage/decisions/record.js';
import { baselineOf, contentOf, putSnapshot } from '../../src/storage/deployments/snapshots.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import type { ActivityDeps } from '../deps.js';
import { classifyErrors, jobFailure } from '../errors.js';
import { containerKey, lockOpenJob } from '../jobs/spec.js';

/** An evaluation to run for a gate. */
export interface GateRun {
  jobId: string;
  evaluation: GateEvaluation;
}

/** What a candidate is judged against: what its name serves (`deploymentId`), else the baseline. */
export interface Incumbent {
  run: GateRun;
  deploymentId: string | null;
}

/** How a deployment comes about. */
export function deploymentActivities({ db, secretKey }: ActivityDeps) {
  return {
    /** Freezes the deployment's source. Answers the evaluation of its gate; null: it has none. */
    freezeDeployment: (job: JobRef): Promise<{ candidate: GateRun | null; comparesWith: 'incumbent' | 'nothing' }> =>
      classifyErrors(() =>
        db.org(job.orgId, async (tx) => {
          await lockWanted(tx, job);
          const spec = await readSpec<DeploymentSpec>(tx, job.jobId);
          const snapshotId = await frozen(tx, job, spec);
          await tx.query(
            'update jobs set started_at = coalesce(started_at, now()), workflow_started = true where id = $1',
            [job.jobId],
          );
          await appendEvents(tx, job, [
            event('building', 'deployment_building', `building ${spec.name}`, { name: spec.name }),
            event('frozen', 'snapshot_frozen', `frozen as ${snapshotId}`, { snapshot_id: snapshotId }),
          ]);
          return {
            candidate: spec.gate && runOf(job, 0, snapshotId),
            comparesWith: spec.gate?.minImprovement != null ? 'incumbent' : 'nothing',
          };
        }),
      ),

    /** What the candidate is to be judged against now; `round` counts how often that was asked before. */
    nextIncumbent: ({ round, ...job }: JobRef & { round: number }): Promise<Incumbent> =>
      classifyErrors(() =>
        db.org(job.orgId, async (tx) => {
          await lockWanted(tx, job);
          const { name, source } = await readSpec<DeploymentSpec>(tx, job.jobId);
          const live = await readLive(tx, name);
          if (live) return { run: runOf(job, round + 1, live.snapshotId), deploymentId: live.id };
          const baseline = baselineOf(source);
          const content = baseline && (await contentOf(tx, baseline));
          const snapshotId = content && (await putSnapshot(tx, job.orgId, content));
          return { run: runOf(job, round + 1, snapshotId), deploymentId: null };
        }),
      ),

    /** Stores an evaluation of a gate, which then runs as any other. */
    openGateEvaluation: ({
      evaluation,
      workflowId,
      ...job
    }: JobRef & { evaluation: GateEvaluation; workflowId: string }) =>
      classifyErrors(() =>
        db.org(job.orgId, async (tx) => {
          const { deploymentId, snapshotId } = evaluation;
          const deployment = { orgId: job.orgId, jobId: deploymentId };
          await lockWanted(tx, deployment);
          const spec = await readSpec<DeploymentSpec>(tx, deployment.jobId);
          const containerApiKey = await containerKey(tx, secretKey, deployment, spec);
          await insertGateEvaluation(tx, secretKey, spec, { job, workflowId, snapshotId, containerApiKey });
        }),
      ),

    /** Notes what the gate's evaluations have shown; rejects where that does not suffice. */
    concludeGate: ({
      candidate,
      incumbent,
      ...job
    }: JobRef & { candidate: GateRun; incumbent: Incumbent | null }): Promise<void> =>
      classifyErrors(async () => {
        const verdict = await db.org(job.orgId, async (tx) => {
          await lockOpenJob(tx, job);
          const { gate } = await readSpec<DeploymentSpec>(tx, job.jobId);
          const verdict = evaluateGate(gate!, {
            candidate: await readRewards(tx, candidate.jobId),
            incumbent: incumbent && (await readRewards(tx, incumbent.run.jobId)),
          });
          const { passed, candidateReward, incumbentReward, comparison, message: says } = verdict;
          await setGateResult(tx, job.jobId, {
            candidate: { jobId: candidate.jobId, reward: candidateReward },
            incumbent: incumbent && {
              ...{ jobId: incumbent.run.jobId, deploymentId: incumbent.deploymentId, reward: incumbentReward },
            },
            comparison,
            passed,
          });
          const key = `gate:${incumbent?.run.jobId ?? candidate.jobId}`;
          const data = { passed, reward: candidateReward, incumbent_reward: incumbentReward, comparison };
          await appendEvents(tx, job, [event(key, 'gate_judged', says, data)]);
          return verdict;
        });
        if (!verdict.passed) throw jobFailure('gate_not_passed', `${verdict.message} What was live stays live.`);
      }),

    /**
     * Has the deployment take its name and closes its job. `against`: what it was judged against, absent: nothing. `moved`: the name
     * is served by another since, and nothing was done.
     */
    publishDeployment: ({ against, ...job }: JobRef & { against?: string | null }): Promise<'done' | 'moved'> =>
      classifyErrors(() =>
        db.org(job.orgId, async (tx) => {
          // An earlier attempt has done it, and its answer was lost.
          if ((await lockJob(tx, job)).status === 'completed') return 'done';
          await lockOpenJob(tx, job);
          const found = await promote(tx, job, against);
          if (found === 'moved') return found;
          if (found === 'deleted') throw deleted();
          await finishJob(tx, job, {
            ...{ status: 'completed', stoppedBy: null, error: null, accepted: [] },
            events: [event('end', 'job_complete', 'ready, and live', {})],
          });
          return 'done';
        }),
      ),

    /** Closes the job of a deployment that came to nothing. */
    closeDeployment: ({
      ending,
      ...job
    }: JobRef & { ending: { status: 'failed' | 'cancelled'; error: ErrorDetails | null } }) =>
      classifyErrors(() =>
        db.org(job.orgId, async (tx) => {
          const { status, error } = ending;
          const said = error && { code: error.code, message: error.message, retryable: error.retryable };
          const events = said
            ? [
                event('error', 'error', said.message, said),
                event('end', 'job_failed', said.message, { error: said.message, code: said.code }),
              ]
            : [event('end', 'job_cancelled', 'cancelled', {})];
          await finishJob(tx, job, { status, stoppedBy: status, error, accepted: [], events });
        }),
      ),
  };
}

/** Locks the job of a deployment that is still wanted. */
async function lockWanted(tx: Tx, job: JobRef): Promise<void> {
  await lockOpenJob(tx, job);
  if (await isDeleted(tx, job.jobId)) throw deleted();
}

function deleted() {
  return jobFailure('deployment_deleted', 'The deployment was deleted while it was built.');
}

function event(key: string, type: string, message: string, data: Record<string, unknown>): NewEvent {
  return { key, type, message, data };
}

function runOf({ jobId }: JobRef, number: number, snapshotId: string | null): GateRun {
  return { jobId: gateJobId(jobId, number), evaluation: { deploymentId: jobId, snapshotId } };
}

/** The deployment's snapshot: the one that it has, else one that is made now. */
async function frozen(tx: Tx, job: JobRef, { source }: DeploymentSpec): Promise<string> {
  const [row] = await tx.query<{ id: string | null }>('select snapshot_id as id from deployments where id = $1', [
    job.jobId,
  ]);
  if (row?.id) return row.id;
  const content = await contentOf(tx, source);
  if (!content) throw jobFailure('candidate_gone', 'The candidate of this deployment is not in the database any more.');
  const id = await putSnapshot(tx, job.orgId, content);
  await setSnapshot(tx, job.jobId, id);
  return id;
}
