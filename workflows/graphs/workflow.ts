import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { searchJob, type SearchInput } from '../search/loop.js';

const { prepareGraph } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' },
});

/** A graph job: a search for a better graph of model calls. */
export function graphWorkflow(input: SearchInput): Promise<void> {
  return searchJob(input, {
    less: 'give fewer tasks',
    prepare: prepareGraph,
    continueAsNew: (next) => continueAsNew<typeof graphWorkflow>(next),
  });
}
