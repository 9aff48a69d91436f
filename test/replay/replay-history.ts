import { Worker } from '@temporalio/worker';
import type { History } from '../support/chain.js';
import { workflowBundlePath } from '../support/environment.js';

/** Replays a history with the current workflow code; rejects when the code decides differently. */
export const replay = (history: History) =>
  Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundlePath() } }, history);
