import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { CanarySeen } from '../src/core/deployments/canary/canary.js';
import type { JobFigures } from '../src/core/jobs/progress.js';

/** The header of workflows and activities that names their installation. */
export const installationHeader = 'ratchet-installation';

/** The whole input of a job's workflow; its activities read the rest from Postgres. */
export interface JobInput {
  orgId: string;
  jobId: string;
}

/** The whole input of the workflow that judges answers of a deployment's name. */
export interface JudgeInput {
  orgId: string;
  name: string;
}

/** The whole input of the workflow that Temporal starts at each time of a schedule. */
export interface ScheduledRunInput {
  orgId: string;
  scheduleId: string;
}

/**
 * What a signal brings: HTTP sends `{commandId}`, to wait for the outcome, with a reward `stop`.
 * An operator sends anything, or nothing.
 */
export type SignalPayload = unknown;

export const pauseSignal = defineSignal<[SignalPayload?]>('pause');
export const resumeSignal = defineSignal<[SignalPayload?]>('resume');
export const cancelSignal = defineSignal<[SignalPayload?]>('cancel');
/** A person's prompt, or a hint for the proposer; `commandId` names its row. */
export const candidateSignal = defineSignal<[SignalPayload?]>('candidate');
export const hintSignal = defineSignal<[SignalPayload?]>('hint');
/** A reward was recorded. With `stop: true` the job completes with its best candidate so far. */
export const rewardSignal = defineSignal<[SignalPayload?]>('reward');
/** Name, tags or metadata were changed: Temporal shows what Postgres has. */
export const relabelSignal = defineSignal('relabel');

/** The answer to the query `status`. */
export interface StatusView extends JobFigures {
  status: 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';
}
export const statusQuery = defineQuery<StatusView>('status');

/** The answer of a deployment to the same query. `evaluation`: the job that its gate waits for. */
export interface DeploymentView {
  status: 'pending' | 'building' | 'rolling_out' | 'ready' | 'failed';
  evaluation?: string;
  canary?: CanarySeen;
}
export const deploymentStatusQuery = defineQuery<DeploymentView>('status');

/** The answer of a migration or a checkup to it. `step` and `job`: the job that it waits for. */
export interface PartsView {
  status: 'running' | 'completed' | 'failed' | 'cancelled';
  step?: string;
  job?: string;
}
export const partsStatusQuery = defineQuery<PartsView>('status');

/** Search attributes for filters in the Temporal UI: the kind of a job is its WorkflowType. */
export const orgAttribute = defineSearchAttributeKey('RatchetOrg', SearchAttributeType.KEYWORD);
export const algorithmAttribute = defineSearchAttributeKey('RatchetAlgorithm', SearchAttributeType.KEYWORD);
export const statusAttribute = defineSearchAttributeKey('RatchetStatus', SearchAttributeType.KEYWORD);
/** Absent where there is none; the mean reward of an evaluation, or of a gate's candidate. */
export const bestRewardAttribute = defineSearchAttributeKey('RatchetBestReward', SearchAttributeType.DOUBLE);
export const rolloutsAttribute = defineSearchAttributeKey('RatchetRollouts', SearchAttributeType.INT);
/** Why the job ended, of a failed one the code; absent while it runs. */
export const stopReasonAttribute = defineSearchAttributeKey('RatchetStopReason', SearchAttributeType.KEYWORD);
export const nameAttribute = defineSearchAttributeKey('RatchetName', SearchAttributeType.KEYWORD);
export const tagsAttribute = defineSearchAttributeKey('RatchetTags', SearchAttributeType.KEYWORD_LIST);

/** Set by Temporal on what a schedule starts: when it was due, and the schedule's id there. */
export const scheduledAtAttribute = defineSearchAttributeKey(
  'TemporalScheduledStartTime',
  SearchAttributeType.DATETIME,
);
export const scheduledByAttribute = defineSearchAttributeKey('TemporalScheduledById', SearchAttributeType.KEYWORD);
