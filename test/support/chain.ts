import { createRequire } from 'node:module';
import type { Client } from '@temporalio/client';
import type * as Proto from '@temporalio/proto';

// `import` does not find its names when Node runs this file directly, as for the bench.
const proto = createRequire(import.meta.url)('@temporalio/proto') as typeof Proto;

/** State of an activity that has been asked to end, and has yet to hear of it. */
export const cancelRequested = proto.temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED;

export const { History } = proto.temporal.api.history.v1;
export type History = Proto.temporal.api.history.v1.History;

/** Histories of the runs of a workflow that continued as new, oldest first. */
export async function chainOf(client: Client, workflowId: string): Promise<History[]> {
  const runs: History[] = [];
  let runId: string | null | undefined;
  do {
    const history = History.fromObject(await client.workflow.getHandle(workflowId, runId ?? undefined).fetchHistory());
    runs.unshift(history);
    runId = history.events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  } while (runId);
  return runs;
}

/** The parsed input of a run. */
export function inputOf<T>(history: History): T {
  const data = history.events[0]!.workflowExecutionStartedEventAttributes!.input!.payloads![0]!.data!;
  return JSON.parse(Buffer.from(data).toString()) as T;
}

/** All payloads of a history's events. */
export function payloadsOf(history: History): Uint8Array[] {
  const found: Uint8Array[] = [];
  const walk = (value: unknown): void => {
    if (value instanceof Uint8Array) found.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(walk);
  };
  walk(history.events);
  return found;
}

/** The largest payload of a history in bytes. */
export function largestPayload(history: History): number {
  return Math.max(0, ...payloadsOf(history).map(({ byteLength }) => byteLength));
}
