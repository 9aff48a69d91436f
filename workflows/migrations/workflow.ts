import { advanceMigration, closeMigration } from '../activities.js';
import { runParts } from '../jobs/parts.js';

/**
 * Compares what a name serves with its prompt on another model. The record decides each step: the
 * workflow runs the jobs that it names, one after the other.
 */
export function migrationWorkflow(input?: unknown): Promise<void> {
  return runParts(input, { advance: advanceMigration, close: closeMigration, code: 'migration_step_failed' });
}
