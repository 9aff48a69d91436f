import { continueAsNew } from '@temporalio/workflow';
import { prepareGraph } from '../activities.js';
import type { JobSummary } from '../messages.js';
import { searchJob, type SearchJobInput } from '../search/loop.js';

/** A graph job: a search for a better graph of model calls. */
export function graphWorkflow(input: SearchJobInput): Promise<JobSummary> {
  return searchJob(input, {
    advice: 'give fewer tasks',
    prepare: prepareGraph,
    continueAsNew: (next) => continueAsNew<typeof graphWorkflow>(next),
  });
}
