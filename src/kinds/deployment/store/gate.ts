import type { DeploymentSpec, EvaluationSpec, GateSpec } from '../../../core/jobs/spec.js';
import type { PolicySpec } from '../../../core/jobs/policy.js';
import type { Message } from '../../../core/prompts/message.js';
import { policyFromSnapshot, type SnapshotContent } from '../contract/snapshot.js';
import { childJobId } from '../../../core/jobs/kinds.js';
import type { Tx } from '../../../platform/db/db.js';
import { jsonFields } from '../../../platform/db/json-fields.js';
import type { JobRef } from '../../../jobs/store/events.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { hasJob, insertJob } from '../../../jobs/store/jobs.js';
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
  return childJobId('evaluation', deploymentId, number);
}

/** The number of a gate's evaluation, from its job. */
export const gateNumber = (jobId: string): number => parseInt(jobId.slice(-4), 16);

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
    deploymentId: string;
    workflowId: string;
    snapshotId: string | null;
    containerApiKey: string | null;
    /** Indexes of the gate's seeds; null: all. */
    repeated: readonly number[] | null;
  },
): Promise<boolean> {
  const { job, deploymentId, workflowId, snapshotId, containerApiKey, repeated } = evaluation;
  if (await hasJob(tx, job)) return false;
  const content = snapshotId === null ? null : (await readSnapshot(tx, snapshotId))!.content;
  const policy =
    content === null
      ? (source as Extract<typeof source, { kind: 'messages' }>).policy
      : policyFromSnapshot(content.kind === 'graph' ? content.policies[0]! : content.policy);
  const run = { policy, content, snapshotId, repeated };
  const evaluationSpec = {
    ...frozenEvaluation({ name, gate: gate!, container, ...(rows && { rows }) }, run),
    gateSnapshotId: snapshotId,
  };
  const others = { parentId: deploymentId, keyId: null, algorithm: null, correlationId: null };
  const labels = { name, tags: [], metadata: {}, notes: null };
  await insertJob(tx, { ...job, kind: 'evaluation', workflowId, spec: evaluationSpec, labels, ...others });
  if (containerApiKey !== null) {
    const { origin } = new URL(container!.url);
    await putSecret(tx, secretKey, { ...job, name: 'container_api_key', origin }, containerApiKey);
  }
  return true;
}

/** What an evaluation of a frozen content runs on. */
interface EvaluatedOn extends Pick<DeploymentSpec, 'name' | 'container' | 'rows'> {
  gate: Omit<GateSpec, 'minReward' | 'minImprovement'>;
}

/** What it runs; `repeated`: indexes of the seeds, null: all. */
export interface FrozenRun {
  policy: PolicySpec;
  /** null: the container's own prompt. */
  content: SnapshotContent | null;
  /** Of a graph. */
  snapshotId: string | null;
  repeated: readonly number[] | null;
}

/** The evaluation of a frozen content, as it answers when it is live. */
export function frozenEvaluation(
  { name, gate, container, rows }: EvaluatedOn,
  { policy, content, snapshotId, repeated }: FrozenRun,
): EvaluationSpec {
  const { seeds, maxConcurrent, rolloutTimeoutS, maxFailureRate, preflight, inputs, answerCache } = gate;
  return {
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
    candidate: withInputs(content && gateCandidate(content, snapshotId), inputs ?? []),
  };
}

function gateCandidate(content: SnapshotContent, snapshotId: string | null): EvaluationSpec['candidate'] {
  const { provenance } = content;
  const from = {
    sessionId: provenance.source === 'session' ? provenance.job_id : null,
    candidateId: provenance.candidate_id,
    frozen: true,
  };
  if (content.kind === 'graph') return { messages: [], ...from, graphSnapshotId: snapshotId! };
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
