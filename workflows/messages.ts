import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineQuery, defineSignal } from '@temporalio/workflow';

/** Names that HTTP, the worker and operators share: each stands here once. */
export const taskQueue = 'ratchet';

export type JobKind = 'session' | 'evaluation' | 'graph' | 'deployment';

/** The input of a job's workflow, all of it; what else it needs it reads from Postgres. */
export interface JobInput {
  orgId: string;
  jobId: string;
}

/** A command carries its id so that HTTP can wait for its outcome; an operator's signal from the Temporal UI has none. */
export interface Command {
  commandId: string;
}

/** A reward has come to the inbox. With `stop` the job completes with its best so far. */
export interface RewardSignal {
  commandId?: string;
  stop?: boolean;
}

export const pauseSignal = defineSignal<[Command?]>('pause');
export const resumeSignal = defineSignal<[Command?]>('resume');
export const cancelSignal = defineSignal<[Command?]>('cancel');
export const rewardSignal = defineSignal<[RewardSignal?]>('reward');

/** What an operator sees by the query `status`. Rewards are means; `bestCandidate` is a candidate id. */
export interface StatusView {
  status: 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';
  generation: number;
  totalGenerations: number;
  bestCandidate: string | null;
  bestReward: number | null;
  rolloutsCompleted: number;
  maxRollouts: number | null;
}
export const statusQuery = defineQuery<StatusView>('status');

/** What an operator sees of a deployment by the same query. `evaluation`: the job that its gate waits for. */
export interface DeploymentView {
  status: 'pending' | 'building' | 'ready' | 'failed';
  evaluation?: string;
}
export const deploymentStatusQuery = defineQuery<DeploymentView>('status');

/** Search attributes, all keywords: operators filter by them in the Temporal UI. */
export const orgAttribute = defineSearchAttributeKey('RatchetOrg', SearchAttributeType.KEYWORD);
export const kindAttribute = defineSearchAttributeKey('RatchetKind', SearchAttributeType.KEYWORD);
export const algorithmAttribute = defineSearchAttributeKey('RatchetAlgorithm', SearchAttributeType.KEYWORD);
export const statusAttribute = defineSearchAttributeKey('RatchetStatus', SearchAttributeType.KEYWORD);

/** The exported workflow functions' names, and the workflow id that holds the job's. */
export const workflowType: Record<JobKind, string> = {
  session: 'sessionWorkflow',
  evaluation: 'evaluationWorkflow',
  graph: 'graphWorkflow',
  deployment: 'deploymentWorkflow',
};
export function workflowId(kind: JobKind, jobId: string): string {
  return `${kind}-${jobId}`;
}
