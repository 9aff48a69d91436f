import { CancellationScope, condition, isCancellation, workflowInfo } from '@temporalio/workflow';
import type { OutcomeCounts } from '../../src/core/jobs/failures.js';
import type { PendingCommand } from './commands.js';

/** What a run that continues as new hands on. */
export interface CarriedState {
  status: 'running' | 'paused';
  pauses: number;
  counts: OutcomeCounts;
  inbox: PendingCommand[];
}

/** A run continues as new from here on at the latest, whatever the server suggests (its own default: 4,096 events, 4 MB). */
const longest = { events: 5_000, bytes: 5_000_000 };

/** Whether this run should hand on to a new one: as the server suggests, or by our own bounds. */
export function isAtHistoryLimit(): boolean {
  const { continueAsNewSuggested, historyLength, historySize } = workflowInfo();
  return continueAsNewSuggested || historyLength >= longest.events || historySize >= longest.bytes;
}

/**
 * Has an activity run that ends early, with what it has, when it is asked to by cancelling it; it is asked when the run's
 * history has grown long. Answers null where it was cancelled before it could say anything. `isCancelled`: the job itself.
 */
export async function runUntilHistoryLimit<T>(
  activity: () => Promise<T>,
  isCancelled: () => boolean,
): Promise<T | null> {
  const early = new CancellationScope();
  let over = false;
  const watch = async () => {
    await condition(() => over || isAtHistoryLimit());
    if (!over) early.cancel();
  };
  try {
    const [result] = await Promise.all([early.run(activity).finally(() => (over = true)), watch()]);
    return result;
  } catch (error) {
    if (isCancellation(error) && early.consideredCancelled && !isCancelled()) return null;
    throw error;
  }
}
