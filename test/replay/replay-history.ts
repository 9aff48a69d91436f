import { expect } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { History, payloadsOf } from '../support/chain.js';
import { workflowBundlePath } from '../support/environment.js';
import { workflowIs } from '../support/workflow-is.js';

/** Replays a history with the current workflow code; rejects when the code decides differently. */
export const replay = (history: History) =>
  Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundlePath() } }, history);

/** Waits for a status, and replays the history, which contains none of the secrets. */
export async function replayEnded(
  handle: WorkflowHandle,
  status: string,
  secrets: readonly string[],
): Promise<History> {
  await workflowIs(handle, status);
  const history = History.fromObject(await handle.fetchHistory());
  const recorded = payloadsOf(history)
    .map((payload) => Buffer.from(payload).toString())
    .join('\n');
  for (const secret of secrets) expect(recorded).not.toContain(secret);
  await replay(history);
  return history;
}

/** A local activity as its workflow task recorded it. */
interface LocalActivity {
  activity_type: string;
  attempt: number;
}

/** The local activities of a history that have ended, in order. */
export function localActivities({ events }: History): LocalActivity[] {
  return (events ?? []).flatMap(({ markerRecordedEventAttributes: marker }) => {
    const data = marker?.details?.['data']?.payloads?.[0]?.data;
    return data ? [JSON.parse(Buffer.from(data).toString()) as LocalActivity] : [];
  });
}
