import { continueAsNew } from '@temporalio/workflow';
import { adoptBaseline, prepareSession } from '../activities.js';
import { searchJob, type SearchInput } from '../search/loop.js';

/** A prompt optimization session. */
export function sessionWorkflow(input: SearchInput): Promise<void> {
  return searchJob(input, {
    advice: 'list fewer evaluation seeds',
    isExtendable: true,
    prepare: prepareSession,
    adoptBaseline,
    continueAsNew: (next) => continueAsNew<typeof sessionWorkflow>(next),
  });
}
