import { continueAsNew } from '@temporalio/workflow';
import { adoptBaseline, prepareSession } from '../activities.js';
import type { JobSummary } from '../messages.js';
import { searchJob, type SearchJobInput } from '../search/loop.js';

/** A prompt optimization session. */
export function sessionWorkflow(input: SearchJobInput): Promise<JobSummary> {
  return searchJob(input, {
    advice: 'list fewer evaluation seeds',
    isExtendable: true,
    prepare: prepareSession,
    adoptBaseline,
    continueAsNew: (next) => continueAsNew<typeof sessionWorkflow>(next),
  });
}
