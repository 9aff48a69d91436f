import { WorkflowNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';
import type { CommandKind } from '../contracts/control.js';
import type { JobKind } from '../core/jobs/kinds.js';
import { cancelSignal, pauseSignal, resumeSignal, rewardSignal } from '../../workflows/messages.js';

/** The job a command is for. */
export interface CommandedJob {
  orgId: string;
  jobId: string;
  kind: JobKind;
  workflowId: string;
}

/** There is no workflow that could take the command: it has closed, or was terminated. */
export class WorkflowGoneError extends Error {
  override readonly name = 'WorkflowGoneError';
}

/** Temporal did not take the command in time; whether it was delivered is not known. */
export class TemporalUnavailableError extends Error {
  override readonly name = 'TemporalUnavailableError';
}

/** Sends commands to the jobs' workflows. */
export interface Commander {
  /** Starts a job's workflow unless it is there already, and notes on its row that it is. */
  start(job: CommandedJob): Promise<void>;
  /** Delivers a command, whose outcome the workflow writes to its row. Fails as the two errors above say. */
  send(job: CommandedJob, kind: CommandKind, commandId: string): Promise<void>;
  /** Tells a job's workflow to look for rewards; nothing happens where it has closed. */
  wake(job: Pick<CommandedJob, 'workflowId'>): Promise<void>;
  /** Asks Temporal to cancel a workflow; nothing happens where it has closed. */
  cancel(job: Pick<CommandedJob, 'workflowId'>): Promise<void>;
}

const deadlineMs = 2_000;

/** Tells a workflow that all it wanted of live traffic is answered; one that has closed needs no telling. */
export async function tellOfRewards(client: Client, workflowId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).signal(rewardSignal, {});
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** Asks Temporal to cancel a workflow; one that has closed needs no asking. */
export async function cancelWorkflow(client: Client, workflowId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).cancel();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** Commands as Temporal signals; a cancel is followed by Temporal's own request, so that the workflow closes CANCELED. */
export function createCommander(client: Client, start: Commander['start']): Commander {
  return {
    start,
    wake: ({ workflowId }) => client.withDeadline(Date.now() + deadlineMs, () => tellOfRewards(client, workflowId)),
    cancel: ({ workflowId }) => client.withDeadline(Date.now() + deadlineMs, () => cancelWorkflow(client, workflowId)),
    async send(job, kind, commandId) {
      const handle = client.workflow.getHandle(job.workflowId);
      try {
        await client.withDeadline(Date.now() + deadlineMs, () => deliver(handle, kind, commandId));
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) {
          throw new WorkflowGoneError(`The workflow ${job.workflowId} is not running.`, { cause: error });
        }
        throw new TemporalUnavailableError(`Temporal did not take the command: ${(error as Error).message}`, {
          cause: error,
        });
      }
    },
  };
}

async function deliver(handle: WorkflowHandle, kind: CommandKind, commandId: string): Promise<void> {
  switch (kind) {
    case 'pause':
      return handle.signal(pauseSignal, { commandId });
    case 'resume':
      return handle.signal(resumeSignal, { commandId });
    case 'stop':
      return handle.signal(rewardSignal, { commandId, stop: true });
    case 'cancel':
      await handle.signal(cancelSignal, { commandId });
      // The signal alone may have closed the workflow already.
      await handle.cancel().catch((error: unknown) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
  }
}
