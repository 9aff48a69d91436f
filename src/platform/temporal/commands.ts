import { ServiceError, WorkflowNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';
import type { CommandKind } from '../../contracts/control.js';
import type { JobKind } from '../../core/jobs/kinds.js';
import { deleteHistories, type JobHistories } from './delete-history.js';
import { TemporalUnavailableError, WorkflowGoneError } from './errors.js';
import {
  cancelSignal,
  candidateSignal,
  hintSignal,
  pauseSignal,
  relabelSignal,
  resumeSignal,
  rewardSignal,
} from '../../../workflows/messages.js';

/** The job that a command addresses. */
export interface CommandedJob {
  orgId: string;
  jobId: string;
  kind: JobKind;
  workflowId: string;
}

export interface Commander {
  /**
   * Starts a job's workflow, unless it exists, and marks its row as started. Rejects with
   * TemporalUnavailableError.
   */
  start(job: CommandedJob): Promise<void>;
  /** Delivers a command. Rejects with WorkflowGoneError or TemporalUnavailableError. */
  send(job: CommandedJob, kind: CommandKind, commandId: string): Promise<void>;
  /** Signals a job's workflow that rewards were recorded; no error where it is closed. */
  wake(job: Pick<CommandedJob, 'workflowId'>): Promise<void>;
  /** Signals a workflow that labels of its job were changed; no error where it is closed. */
  relabel(job: Pick<CommandedJob, 'workflowId'>): Promise<void>;
  /** Requests a workflow's cancellation; no error where it is closed. */
  cancel(job: Pick<CommandedJob, 'workflowId'>): Promise<void>;
  /** Deletes the histories of all runs and webhooks. */
  deleteHistories(job: JobHistories): Promise<void>;
}

const deadlineMs = 2_000;
/** A start stores the input of a job, and may come with a hundred others. */
const startDeadlineMs = 5_000;

/** Signals a workflow that rewards were recorded; no error where it is closed. */
export function signalRewards(client: Client, workflowId: string): Promise<void> {
  return unlessClosed(client.workflow.getHandle(workflowId).signal(rewardSignal, {}));
}

/** Requests a workflow's cancellation; no error where it is closed. */
export function cancelWorkflow(client: Client, workflowId: string): Promise<void> {
  return unlessClosed(client.workflow.getHandle(workflowId).cancel());
}

async function unlessClosed(sent: Promise<unknown>): Promise<void> {
  await sent.catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
}

/** Sends signals; a cancel also requests cancellation, so that the workflow closes as CANCELED. */
export function createCommander(client: Client, start: Commander['start']): Commander {
  return {
    async start(job) {
      try {
        await client.withDeadline(Date.now() + startDeadlineMs, () => start(job));
      } catch (error) {
        throw error instanceof ServiceError ? unavailable('start', error) : error;
      }
    },
    wake: ({ workflowId }) => client.withDeadline(Date.now() + deadlineMs, () => signalRewards(client, workflowId)),
    relabel: ({ workflowId }) =>
      client.withDeadline(Date.now() + deadlineMs, () =>
        unlessClosed(client.workflow.getHandle(workflowId).signal(relabelSignal)),
      ),
    cancel: ({ workflowId }) => client.withDeadline(Date.now() + deadlineMs, () => cancelWorkflow(client, workflowId)),
    deleteHistories: (job) => deleteHistories(client, job),
    async send(job, kind, commandId) {
      const handle = client.workflow.getHandle(job.workflowId);
      try {
        await client.withDeadline(Date.now() + deadlineMs, () => deliver(handle, kind, commandId));
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) {
          throw new WorkflowGoneError(`Workflow "${job.workflowId}" is not running.`, { cause: error });
        }
        throw unavailable('command', error as Error);
      }
    },
  };
}

function unavailable(what: string, cause: Error): TemporalUnavailableError {
  return new TemporalUnavailableError(`Temporal did not accept the ${what}: ${cause.message}`, { cause });
}

async function deliver(handle: WorkflowHandle, kind: CommandKind, commandId: string): Promise<void> {
  switch (kind) {
    case 'pause':
      return handle.signal(pauseSignal, { commandId });
    case 'resume':
      return handle.signal(resumeSignal, { commandId });
    case 'candidate':
      return handle.signal(candidateSignal, { commandId });
    case 'hint':
      return handle.signal(hintSignal, { commandId });
    case 'stop':
      return handle.signal(rewardSignal, { commandId, stop: true });
    case 'cancel':
      await handle.signal(cancelSignal, { commandId });
      // The signal may have closed the workflow already.
      await unlessClosed(handle.cancel());
  }
}
