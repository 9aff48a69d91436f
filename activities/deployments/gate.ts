import type { DeploymentSpec } from '../../src/core/jobs/spec.js';
import { unitOf } from '../../src/core/jobs/unit.js';
import { evaluateGate, type GateVerdict } from '../../src/core/deployments/gate.js';
import { changedSeeds } from '../../src/core/math/repeated-pairs.js';
import { gateJudged } from '../../src/core/events/deployments.js';
import type { Tx } from '../../src/platform/db/db.js';
import { setGateResult } from '../../src/kinds/deployment/store/deployments.js';
import { readLive } from '../../src/kinds/deployment/store/served.js';
import {
  gateJobId,
  gateNumber,
  insertGateEvaluation,
  readFirstRewards,
  readRewards,
  repeatOf,
  runsSnapshot,
  type GateEvaluation,
} from '../../src/kinds/deployment/store/gate.js';
import { baselineSource, putSnapshot, readContent, readSnapshot } from '../../src/kinds/deployment/store/snapshots.js';
import { hasJob } from '../../src/jobs/store/jobs.js';
import { appendEvents, type JobRef } from '../../src/jobs/store/events.js';
import { readSpec } from '../../src/jobs/store/spec.js';
import { insertTrace, readTrace } from '../../src/jobs/store/traces.js';
import { jobSpan } from '../../src/tracing/spans.js';
import type { ActivityDeps } from '../deps.js';
import { jobFailure } from '../errors.js';
import { containerKey, lockOpenJob } from '../jobs/spec.js';
import { lockUndeleted } from './undeleted.js';

export interface GateRun {
  jobId: string;
  evaluation: GateEvaluation;
}

/** The incumbent of a gate: the live deployment, or the baseline (`deploymentId` null). */
export interface Incumbent {
  run: GateRun;
  deploymentId: string | null;
}

/** Compares a deployment with what its name serves, before it takes the name. */
export function gateActivities({ db, secretKey }: ActivityDeps) {
  return {
    /** Returns the current incumbent; `round` is the number of earlier calls. */
    nextIncumbent: ({ round, ...job }: JobRef & { round: number }): Promise<Incumbent> =>
      db.org(job.orgId, async (tx) => {
        await lockUndeleted(tx, job);
        const { name, source, rows } = await readSpec<DeploymentSpec>(tx, job.jobId);
        const live = await readLive(tx, name);
        if (live && rows) await requireMessages(tx, name, live.snapshotId);
        if (live) return { run: gateRun(job, name, round + 1, live.snapshotId), deploymentId: live.id };
        const baseline = baselineSource(source);
        const content = baseline && (await readContent(tx, baseline));
        const snapshotId = content && (await putSnapshot(tx, job.orgId, content));
        return { run: gateRun(job, name, round + 1, snapshotId), deploymentId: null };
      }),

    openGateEvaluation: ({
      evaluation,
      workflowId,
      ...job
    }: JobRef & { evaluation: GateEvaluation; workflowId: string }) =>
      db.org(job.orgId, async (tx) => {
        // Its workflow was reset, possibly after the deployment had ended.
        if (await hasJob(tx, job)) return;
        const { deploymentId, snapshotId, changedFrom } = evaluation;
        const deployment = { orgId: job.orgId, jobId: deploymentId };
        await lockUndeleted(tx, deployment);
        const spec = await readSpec<DeploymentSpec>(tx, deployment.jobId);
        const containerApiKey = await containerKey(tx, secretKey, deployment, spec);
        const repeated =
          changedFrom === undefined ? null : changedSeeds(await readFirstRewards(tx, deploymentId, changedFrom));
        const opened = { job, deploymentId, workflowId, snapshotId, containerApiKey, repeated };
        const isNew = await insertGateEvaluation(tx, secretKey, spec, opened);
        const trace = isNew && (await readTrace(tx, deploymentId));
        if (trace) await insertTrace(tx, job, { ...trace, parentId: jobSpan(trace).spanId });
      }),

    /** Second evaluations of the seeds that changed; none for cached answers. */
    nextRepeats: ({
      candidate,
      incumbent,
      ...job
    }: JobRef & { candidate: GateRun; incumbent: Incumbent }): Promise<GateRun[]> =>
      db.org(job.orgId, async (tx) => {
        const { gate } = await readSpec<DeploymentSpec>(tx, job.jobId);
        if (gate!.answerCache) return [];
        const changed = changedSeeds(await readFirstRewards(tx, job.jobId, incumbent.run.jobId));
        return changed.length === 0 ? [] : repeatRuns(job, candidate, incumbent.run);
      }),

    /** Judges the gate by its evaluations and records the result; rejects if it failed. */
    concludeGate: async ({ candidate, incumbent, repeats, ...job }: JobRef & Judged): Promise<void> => {
      const verdict = await db.org(job.orgId, (tx) => judge(tx, job, { candidate, incumbent, repeats }));
      if (!verdict.passed)
        throw jobFailure('gate_not_passed', `${verdict.message} Its name serves what it served before.`);
    },
  };
}

export interface Judged {
  candidate: GateRun;
  incumbent: Incumbent | null;
  /** Of the candidate and of the incumbent, or empty. */
  repeats: GateRun[];
}

/** Stores the gate's result and its event. */
async function judge(tx: Tx, job: JobRef, { candidate, incumbent, repeats }: Judged): Promise<GateVerdict> {
  await lockOpenJob(tx, job);
  const { kind, gate, rows } = await readSpec<DeploymentSpec>(tx, job.jobId);
  if (incumbent) await requireSameSnapshot(tx, incumbent.run);
  const [again, before] = await Promise.all(repeats.map(({ jobId }) => readRewards(tx, jobId)));
  const rewards = {
    seeds: gate!.seeds,
    candidate: await readRewards(tx, candidate.jobId),
    incumbent: incumbent && (await readRewards(tx, incumbent.run.jobId)),
    ...(again && before && { repeats: { candidate: again, incumbent: before } }),
  };
  const verdict = evaluateGate(gate!, rewards, unitOf({ kind, rows }));
  const { passed, candidateReward, candidateInterval, incumbentReward, incumbentInterval } = verdict;
  const { comparison, flippedSeeds, message } = verdict;
  await setGateResult(tx, job.jobId, {
    candidate: { jobId: candidate.jobId, reward: candidateReward, interval: candidateInterval },
    incumbent: incumbent && {
      jobId: incumbent.run.jobId,
      deploymentId: incumbent.deploymentId,
      reward: incumbentReward,
      interval: incumbentInterval,
    },
    comparison,
    flippedSeeds,
    passed,
  });
  const data = {
    passed,
    reward: candidateReward,
    reward_interval: candidateInterval,
    incumbent_reward: incumbentReward,
    comparison: comparison && eventComparison(comparison),
    flipped_seeds: flippedSeeds,
  };
  await appendEvents(tx, job, [gateJudged(incumbent?.run.jobId ?? candidate.jobId, message, data)]);
  return verdict;
}

/** Fails where a run of the workflow that was reset has evaluated another incumbent by this id. */
async function requireSameSnapshot(tx: Tx, { jobId, evaluation }: GateRun): Promise<void> {
  if (await runsSnapshot(tx, jobId, evaluation.snapshotId)) return;
  const message = `The live deployment changed, and evaluation ${jobId} measures the one before it. Create the deployment again.`;
  throw jobFailure('gate_overtaken', message);
}

/** Fails unless a live snapshot can answer rows: a graph, or marked spans, need a container. */
async function requireMessages(tx: Tx, name: string, snapshotId: string): Promise<void> {
  const { content } = (await readSnapshot(tx, snapshotId))!;
  if (content.kind === 'messages' && !content.levers_marked) return;
  const what = content.kind === 'graph' ? 'a graph' : 'a prompt of spans inside the calls of a container';
  const message = `The gate runs on a data set, but ${name} serves ${what}. Use a gate with container_url, or min_reward.`;
  throw jobFailure('gate_not_comparable', message);
}

function eventComparison({ rowsNeeded, ...comparison }: NonNullable<GateVerdict['comparison']>) {
  return { ...comparison, rows_needed: rowsNeeded };
}

/** Those of the candidate and of the incumbent on the seeds that changed. */
function repeatRuns({ jobId }: JobRef, candidate: GateRun, incumbent: GateRun): GateRun[] {
  const number = gateNumber(incumbent.jobId);
  const again = ({ evaluation }: GateRun, base: number): GateRun => ({
    jobId: gateJobId(jobId, base + number),
    evaluation: { ...evaluation, changedFrom: incumbent.jobId },
  });
  return [again(candidate, repeatOf.candidate), again(incumbent, repeatOf.incumbent)];
}

/** The evaluation of a gate; number 0 is that of the candidate. */
export function gateRun({ jobId }: JobRef, name: string, number: number, snapshotId: string | null): GateRun {
  return { jobId: gateJobId(jobId, number), evaluation: { deploymentId: jobId, name, snapshotId } };
}
