import { createRequire } from 'node:module';
import type { Client } from '@temporalio/client';
import type * as Proto from '@temporalio/proto';

// Its names are not seen by `import` where Node runs this file itself, as it does for the bench.
const proto = createRequire(import.meta.url)('@temporalio/proto') as typeof Proto;

export const { History } = proto.temporal.api.history.v1;
export type History = Proto.temporal.api.history.v1.History;

/** The histories of a workflow's runs, each of which the one before continued as new; oldest first. */
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

/** What a run was started with, as JSON. */
export function inputOf<T>(history: History): T {
  const data = history.events[0]!.workflowExecutionStartedEventAttributes!.input!.payloads![0]!.data!;
  return JSON.parse(Buffer.from(data).toString()) as T;
}

/** The largest payload of a history in bytes: whatever an event carries of ours. */
export function largestPayload(history: History): number {
  let largest = 0;
  const walk = (value: unknown): void => {
    if (value instanceof Uint8Array) largest = Math.max(largest, value.byteLength);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(walk);
  };
  walk(history.events);
  return largest;
}
