import { continueAsNew, log, setDefaultSignalHandler } from '@temporalio/workflow';
import { judgeAnswers } from '../activities.js';
import { ownField } from '../jobs/fields.js';
import { isAtHistoryLimit } from '../jobs/history-limit.js';
import { readJudge } from '../jobs/input.js';

/**
 * Judges the answers of a deployment's name that wait, until none is due. The reconciler starts it
 * again.
 */
export async function judgeWorkflow(input?: unknown): Promise<void> {
  const judge = readJudge(input);
  setDefaultSignalHandler((signal) => log.warn('signal ignored', { signal: signal.slice(0, 100) }));
  while (!isAtHistoryLimit()) {
    const slice: unknown = await judgeAnswers(judge);
    // An operator may complete it by hand with anything.
    if (ownField(slice, 'isOver') !== false) return;
  }
  await continueAsNew<typeof judgeWorkflow>(judge);
}
