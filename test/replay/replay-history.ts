import { Worker } from '@temporalio/worker';
import type { History } from '../support/chain.js';
import { workflowBundlePath } from '../support/environment.js';

/** Replays a history with the current workflow code; rejects when the code decides differently. */
export const replay = (history: History) =>
  Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundlePath() } }, history);

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
