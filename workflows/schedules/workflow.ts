import { log, setDefaultSignalHandler, workflowInfo } from '@temporalio/workflow';
import { openScheduledRun } from '../activities.js';
import { readSchedule } from '../jobs/input.js';
import { scheduledAtAttribute, scheduledByAttribute } from '../messages.js';

/** Adds a run to a schedule at its time; the API makes its job. */
export async function scheduledRunWorkflow(input?: unknown): Promise<void> {
  const schedule = readSchedule(input);
  setDefaultSignalHandler((signal) => log.warn('signal ignored', { signal: signal.slice(0, 100) }));
  const { typedSearchAttributes, startTime } = workflowInfo();
  const at = typedSearchAttributes.get(scheduledAtAttribute) ?? startTime;
  const scheduledBy = typedSearchAttributes.get(scheduledByAttribute) ?? null;
  await openScheduledRun({ ...schedule, at: at.toISOString(), scheduledBy });
}
