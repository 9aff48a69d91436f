import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { workStoodStill } from '../../core/jobs/failures.js';
import type { FailingTask } from '../../jobs/store/stuck.js';

/** The last failure of a task is among so many events, unless signals flood the workflow. */
const lastEvents = 100;
const maxMessage = 500;
/** A later attempt than a restart of workers causes. */
const surelyFailing = 3;

/** WorkflowTaskFailedCause of Temporal's API: what the tasks of our workflows may come to. */
const causes = new Map([
  [14, 'workflow_worker_unhandled_failure'],
  [21, 'bad_binary'],
  [23, 'bad_search_attributes'],
  [24, 'non_deterministic_error'],
  [27, 'pending_activities_limit_exceeded'],
  [28, 'pending_signals_limit_exceeded'],
  [36, 'grpc_message_too_large'],
]);
/** Causes that the next attempt repairs: UNHANDLED_COMMAND, resets and forced ends. */
const repaired = [1, 17, 18, 20];

/** Why the workflow task or the work of a workflow fails again and again; null: neither does. */
export async function readFailingTask(
  client: Client,
  { workflowId, runId, raw }: WorkflowExecutionDescription,
): Promise<FailingTask | null> {
  const attempt = raw.pendingWorkflowTask?.attempt ?? 1;
  if (attempt < 2) return standingStill(raw.pendingActivities ?? []);
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: lastEvents,
  });
  // Temporal records the first failure only.
  for (const { workflowTaskFailedEventAttributes: failed, workflowTaskTimedOutEventAttributes } of history?.events ??
    []) {
    if (failed) {
      const cause = failed.cause ?? 0;
      if (repaired.includes(cause) && attempt < surelyFailing) return null;
      const message = await messageOf(client, failed.failure ?? {});
      return { cause: causes.get(cause) ?? `cause_${cause}`, message: message.slice(0, maxMessage) };
    }
    if (workflowTaskTimedOutEventAttributes) break;
  }
  if (attempt < surelyFailing) return null;
  return { cause: 'timed_out', message: 'No worker completes the workflow task in time.' };
}

/** The message of a failure, which a codec key encrypts with its stack trace. */
async function messageOf(
  client: Client,
  { message, encodedAttributes }: { message?: string | null; encodedAttributes?: object | null },
): Promise<string> {
  const shown = message ?? 'no message';
  if (!encodedAttributes) return shown;
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  let payloads: Payload[] = [encodedAttributes];
  for (const codec of payloadCodecs) payloads = await codec.decode(payloads);
  try {
    return payloadConverter.fromPayload<{ message?: string }>(payloads[0]!).message ?? shown;
  } catch {
    // Encrypted by another key.
    return shown;
  }
}

/** Work that stood still in several attempts; see `activities/watch`. */
function standingStill(activities: NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>) {
  const found = activities.find(
    ({ attempt, lastFailure }) =>
      (attempt ?? 1) >= surelyFailing && lastFailure?.applicationFailureInfo?.type === workStoodStill,
  );
  if (!found) return null;
  const message = `The activity ${found.activityType?.name} stood still; attempt ${found.attempt} goes on from the record.`;
  return { cause: workStoodStill, message };
}
