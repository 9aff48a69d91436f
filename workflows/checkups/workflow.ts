import { advanceCheckup, closeCheckup } from '../activities.js';
import { runParts } from '../jobs/parts.js';

/**
 * Looks again at what a name serves, and for a better prompt. The record decides each step: the
 * workflow runs the jobs that it names, one after the other.
 */
export function checkupWorkflow(input?: unknown): Promise<void> {
  return runParts(input, { advance: advanceCheckup, close: closeCheckup, code: 'checkup_step_failed' });
}
