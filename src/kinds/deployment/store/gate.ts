import type { DeploymentSpec, EvaluationSpec } from '../../../core/jobs/spec.js';
import type { Message } from '../../../core/prompts/message.js';
import { policyFromSnapshot } from '../contract/snapshot.js';
import { jobKinds } from '../../../core/jobs/kinds.js';
import type { Tx } from '../../../platform/db/db.js';
import { jsonFields } from '../../../platform/db/json-fields.js';
import type { JobRef } from '../../../jobs/store/events.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { insertJob } from '../../../jobs/store/jobs.js';
import { putSecret } from '../../../access/store/secrets.js';
import { readSnapshot } from './snapshots.js';

/** A gate's evaluation: number 0 runs the deployment's candidate, the others its comparison. */
export interface GateEvaluation {
  deploymentId: string;
  /** That of the deployment. */
  name: string;
  /** The prompt; null: the container's own. */
  snapshotId: string | null;
  /** The incumbent's evaluation: only the seeds on which the candidate differs run again. */
  changedFrom?: string;
}

/** Added to the number of the incumbent's first evaluation: numbers of the second evaluations. */
export const repeatOf = { candidate: 0x1000, incumbent: 0x2000 } as const;

const spec = jsonFields<EvaluationSpec>('j.spec');

/** Timeout of a gate's evaluation, in seconds. */
const timeoutS = 24 * 3_600;

/** The id of a gate's n-th evaluation: stable over retries, and sorted next to its deployment. */
export function gateJobId(deploymentId: string, number: number): string {
  return `${jobKinds.evaluation.prefix}${deploymentId.slice(4, 32)}${number.toString(16).padStart(4, '0')}`;
}

/** The number of a gate's evaluation, from its job. */
export const gateNumber = (jobId: string): number => parseInt(jobId.slice(-4), 16);

/** Whether a job is the evaluation of a gate whose deployment has ended. */
export async function isGateOver(tx: Tx, jobId: string): Promise<boolean> {
  const deployment = jobKinds.deployment.prefix + jobId.slice(4, 32);
  const rows = await tx.query(
    `select 1 from jobs where id between $1 and $2 and kind = 'deployment'
        and status in ('completed', 'failed', 'cancelled')`,
    [`${deployment}0000`, `${deployment}ffff`],
  );
  return rows.length > 0;
}

/** An evaluation that a gate waits for. */
export interface OpenEvaluation {
  jobId: string;
  status: 'running' | 'paused';
  measures: 'candidate' | 'incumbent';
  seedsLeft: number;
}

/** The evaluation that a deployment's gate waits for, or null. */
export async function readOpenEvaluation(tx: Tx, deploymentId: string): Promise<OpenEvaluation | null> {
  const [row] = await tx.query<Omit<OpenEvaluation, 'measures'> & Record<string, unknown>>(
    `select j.id as "jobId", j.status,
            jsonb_array_length(${spec.json('seeds')}) - c.rollouts_succeeded - c.rollouts_failed as "seedsLeft"
       from jobs j join job_controls c on c.job_id = j.id
      where j.id between $1 and $2 and j.status in ('running', 'paused')`,
    [gateJobId(deploymentId, 0), gateJobId(deploymentId, 0xffff)],
  );
  if (!row) return null;
  const number = gateNumber(row.jobId);
  const isCandidate = number === 0 || (number & repeatOf.candidate) > 0;
  return { ...row, measures: isCandidate ? 'candidate' : 'incumbent' };
}

export async function hasEvaluation(tx: Tx, { jobId }: JobRef): Promise<boolean> {
  return (await tx.query('select 1 from jobs where id = $1', [jobId])).length > 0;
}

/**
 * Stores a gate's evaluation with its container key (null: none). False: it exists. The caller
 * holds the lock of the deployment's job, so that retries take turns.
 */
export async function insertGateEvaluation(
  tx: Tx,
  secretKey: Buffer,
  { name, gate, container, rows, source }: DeploymentSpec,
  evaluation: {
    job: JobRef;
    workflowId: string;
    snapshotId: string | null;
    containerApiKey: string | null;
    /** Indexes of the gate's seeds; null: all. */
    repeated: readonly number[] | null;
  },
): Promise<boolean> {
  const { job, workflowId, snapshotId, containerApiKey, repeated } = evaluation;
  if (await hasEvaluation(tx, job)) return false;
  const content = snapshotId === null ? null : (await readSnapshot(tx, snapshotId))!.content;
  const policy =
    content === null
      ? (source as Extract<typeof source, { kind: 'messages' }>).policy
      : policyFromSnapshot(content.kind === 'graph' ? content.policies[0]! : content.policy);
  const { seeds, maxConcurrent, rolloutTimeoutS, maxFailureRate, preflight, inputs, answerCache } = gate!;
  const evaluationSpec: EvaluationSpec = {
    kind: 'evaluation',
    policy,
    container,
    ...(rows && { rows }),
    appId: name,
    seeds: repeated ? repeated.map((at) => seeds[at]!) : seeds,
    timeoutS,
    maxConcurrent,
    rolloutTimeoutS,
    maxFailureRate: repeated ? 1 : maxFailureRate,
    preflight: preflight && !repeated,
    ...(answerCache && { answerCache }),
    candidate: withInputs(content && gateCandidate(content, snapshotId!), inputs ?? []),
    gateSnapshotId: snapshotId,
  };
  const nothing = { keyId: null, algorithm: null, correlationId: null };
  const labels = { name, tags: [], metadata: {}, notes: null };
  await insertJob(tx, { ...job, kind: 'evaluation', workflowId, spec: evaluationSpec, labels, ...nothing });
  if (containerApiKey !== null) {
    const { origin } = new URL(container!.url);
    await putSecret(tx, secretKey, { ...job, name: 'container_api_key', origin }, containerApiKey);
  }
  return true;
}

type Content = NonNullable<Awaited<ReturnType<typeof readSnapshot>>>['content'];

function gateCandidate(content: Content, snapshotId: string): EvaluationSpec['candidate'] {
  const { provenance } = content;
  const from = {
    sessionId: provenance.source === 'session' ? provenance.job_id : null,
    candidateId: provenance.candidate_id,
    frozen: true,
  };
  if (content.kind === 'graph') return { messages: [], ...from, graphSnapshotId: snapshotId };
  const { messages, demos, levers_marked: marked } = content;
  return { messages, ...(demos.length > 0 && { demos }), ...from, ...(marked && { marked }) };
}

/** The prompt followed by the messages of a caller; without a prompt these alone. */
function withInputs(candidate: EvaluationSpec['candidate'], inputs: Message[]): EvaluationSpec['candidate'] {
  if (inputs.length === 0) return candidate;
  const { messages, ...others } = candidate ?? { messages: [], sessionId: null, candidateId: null, frozen: true };
  return { ...others, messages: [...messages, ...inputs] };
}

/** Whether a gate's evaluation runs a snapshot; null: the container's own prompt. */
export async function runsSnapshot(tx: Tx, jobId: string, snapshotId: string | null): Promise<boolean> {
  const { gateSnapshotId } = await readSpec<EvaluationSpec>(tx, jobId);
  return gateSnapshotId === snapshotId;
}

/** The rewards of a gate's first evaluations. */
export async function readFirstRewards(tx: Tx, deploymentId: string, incumbentJobId: string) {
  return {
    candidate: await readRewards(tx, gateJobId(deploymentId, 0)),
    incumbent: await readRewards(tx, incumbentJobId),
  };
}

/** The reward of each seed of an evaluation, in order; null: the rollout failed. */
export async function readRewards(tx: Tx, jobId: string): Promise<(number | null)[]> {
  const rows = await tx.query<{ reward: number | null }>(
    `select case when status = 'succeeded' then reward end as reward from rollouts
      where job_id = $1 and source = 'service' order by ordinal`,
    [jobId],
  );
  return rows.map(({ reward }) => reward);
}
