import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';

/** Upper bounds, in case the server suggests none (its own defaults: 4,096 events, 4 MB). */
const limit = { events: 5_000, bytes: 5_000_000 };

/** Whether this run should continue as new: as the server suggests, or by our own bounds. */
export function isAtHistoryLimit(): boolean {
  const { continueAsNewSuggested, historyLength, historySize } = workflowInfo();
  return continueAsNewSuggested || historyLength >= limit.events || historySize >= limit.bytes;
}

/**
 * Runs an activity that returns a partial result when cancelled, and cancels it at the history
 * limit. Null: it was cancelled before it had a result.
 */
export async function runUntilHistoryLimit<T>(
  activity: () => Promise<T>,
  isCancelled: () => boolean,
): Promise<T | null> {
  const scope = new CancellationScope();
  let isDone = false;
  const watch = async () => {
    await condition(() => isDone || isAtHistoryLimit());
    if (!isDone) scope.cancel();
  };
  try {
    const [result] = await Promise.all([scope.run(activity).finally(() => (isDone = true)), watch()]);
    return result;
  } catch (error) {
    // Work on record goes on in the next run, also where its worker was lost while it ended.
    const mayGoOn = isCancellation(error) || (error instanceof ActivityFailure && !isFinal(error.cause));
    if (mayGoOn && scope.consideredCancelled && !isCancelled()) return null;
    throw error;
  }
}

function isFinal(cause: unknown): boolean {
  return cause instanceof ApplicationFailure && cause.nonRetryable === true;
}
