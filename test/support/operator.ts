/** What an operator can do to a job in Temporal, past the API. */
import { randomUUID } from 'node:crypto';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { statusAttribute } from '../../workflows/messages.js';
import { History } from './chain.js';
import { until } from './until.js';

const resetReapply = { signals: { type: 1, exclude: [] }, none: { type: 2, exclude: [1, 2, 3, 4] } } as const;

/** An update is answered once it has ended. */
const completedStage = 3;

/** A completed workflow task: one of three, or the n-th from 0, at most the last. */
export type ResetTask = 'first' | 'middle' | 'last' | number;

export class Operator {
  private readonly temporal: Client;

  constructor(temporal: Client) {
    this.temporal = temporal;
  }

  /** Sends a signal with raw payloads, as the dialog of the Temporal UI does. */
  async signal(
    handle: WorkflowHandle,
    name: string,
    data?: string | Uint8Array,
    encoding = 'json/plain',
  ): Promise<void> {
    const payload = data === undefined ? [] : [payloadOf(data, encoding)];
    await this.temporal.workflowService.signalWorkflowExecution({
      ...this.of(handle),
      signalName: name,
      input: { payloads: payload },
      identity: 'operator',
    });
  }

  /** Sends an update with a raw payload; returns the text of its refusal, null: it was taken. */
  async update(handle: WorkflowHandle, name: string, data: string, encoding?: string): Promise<string | null> {
    const { outcome } = await this.temporal.workflowService.updateWorkflowExecution({
      ...this.of(handle),
      waitPolicy: { lifecycleStage: completedStage },
      request: {
        meta: { updateId: randomUUID(), identity: 'operator' },
        input: { name, args: { payloads: [payloadOf(data, encoding)] } },
      },
    });
    return outcome?.failure?.message ?? null;
  }

  /** Resets a workflow to the end of a completed task; returns the id of the new run. */
  async reset(handle: WorkflowHandle, task: ResetTask, reapply: keyof typeof resetReapply): Promise<string> {
    const { namespace } = this.temporal.options;
    const { runId, workflowId } = await handle.describe();
    const ofRun = this.temporal.workflow.getHandle(workflowId, runId);
    const completed = await until('a workflow task is completed', async () => {
      const { events } = History.fromObject(await ofRun.fetchHistory());
      const found = events.filter((event) => event.workflowTaskCompletedEventAttributes);
      return found.length > 0 ? found : null;
    });
    const { type, exclude } = resetReapply[reapply];
    const last = completed.length - 1;
    const at = typeof task === 'number' ? Math.min(task, last) : { first: 0, middle: last >> 1, last }[task];
    const answer = await this.temporal.workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution: { workflowId, runId },
      reason: 'test',
      workflowTaskFinishEventId: completed[at]!.eventId ?? null,
      requestId: randomUUID(),
      resetReapplyType: type,
      resetReapplyExcludeTypes: [...exclude],
    });
    return answer.runId;
  }

  /** The pending activity of this type. */
  async pending(handle: WorkflowHandle, type: string) {
    const { raw } = await handle.describe();
    return raw.pendingActivities?.find(({ activityType }) => activityType?.name === type) ?? null;
  }

  /** Completes the pending activity with a result, once there is one. */
  async complete(handle: WorkflowHandle, type: string, result?: unknown, encoding?: string): Promise<void> {
    const { namespace, execution, id } = await this.target(handle, type);
    await this.temporal.workflowService.respondActivityTaskCompletedById({
      namespace,
      workflowId: execution.workflowId,
      activityId: id,
      identity: 'operator',
      ...(result !== undefined && { result: { payloads: [payloadOf(JSON.stringify(result), encoding)] } }),
    });
  }

  /** Fails the pending activity, or an attempt of it. `details`: the text of a JSON payload. */
  async fail(
    handle: WorkflowHandle,
    type: string,
    failure: { message: string; type: string; details: string; nonRetryable?: boolean },
  ) {
    const { namespace, execution, id } = await this.target(handle, type);
    await this.temporal.workflowService.respondActivityTaskFailedById({
      namespace,
      workflowId: execution.workflowId,
      activityId: id,
      identity: 'operator',
      failure: {
        message: failure.message,
        applicationFailureInfo: {
          type: failure.type,
          nonRetryable: failure.nonRetryable ?? true,
          details: { payloads: [payloadOf(failure.details)] },
        },
      },
    });
  }

  async pause(handle: WorkflowHandle, type: string): Promise<void> {
    await this.temporal.workflowService.pauseActivity(await this.target(handle, type));
  }

  /** Resets an activity: its next attempt is the first. */
  async resetActivity(handle: WorkflowHandle, type: string): Promise<void> {
    await this.temporal.workflowService.resetActivity(await this.target(handle, type));
  }

  async unpause(handle: WorkflowHandle, type: string): Promise<void> {
    const { namespace, workflowExecution: execution } = this.of(handle);
    await this.temporal.workflowService.unpauseActivity({ namespace, execution, type });
  }

  /** Starts a workflow of any type with any payloads. */
  async start(
    workflowId: string,
    type: string,
    taskQueue: string,
    payloads: ReturnType<typeof payloadOf>[],
  ): Promise<void> {
    await this.temporal.workflowService.startWorkflowExecution({
      namespace: this.temporal.options.namespace,
      workflowId,
      workflowType: { name: type },
      taskQueue: { name: taskQueue },
      input: { payloads },
      requestId: randomUUID(),
    });
  }

  /** What Temporal shows of a job: its status by query and search attribute. */
  async view(
    handle: WorkflowHandle,
  ): Promise<{ query: string; attribute: unknown; execution: string; taskAttempt: number }> {
    const description = await handle.describe();
    const { status } = await handle.query<{ status: string }>('status');
    return {
      query: status,
      attribute: description.typedSearchAttributes.get(statusAttribute),
      execution: description.status.name,
      taskAttempt: Number(description.raw.pendingWorkflowTask?.attempt ?? 0),
    };
  }

  /** The pending activity of this type, once there is one. */
  private async target(handle: WorkflowHandle, type: string) {
    const { activityId } = await until(`${type} is pending`, () => this.pending(handle, type));
    const { namespace, workflowExecution: execution } = this.of(handle);
    return { namespace, execution, id: activityId ?? null };
  }

  private of({ workflowId }: WorkflowHandle) {
    return { namespace: this.temporal.options.namespace, workflowExecution: { workflowId } };
  }
}

export function payloadOf(data: string | Uint8Array, encoding = 'json/plain') {
  return { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) };
}
