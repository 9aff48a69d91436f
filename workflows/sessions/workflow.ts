import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { searchJob, type SearchInput } from '../search/loop.js';

const { prepareSession } = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500 milliseconds', maximumInterval: '5 seconds' },
});
const { adoptBaseline } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' },
});

/** A policy optimization session: a search for a better prompt. */
export function sessionWorkflow(input: SearchInput): Promise<void> {
  return searchJob(input, {
    less: 'list fewer evaluation seeds',
    prepare: prepareSession,
    adoptBaseline,
    continueAsNew: (next) => continueAsNew<typeof sessionWorkflow>(next),
  });
}
