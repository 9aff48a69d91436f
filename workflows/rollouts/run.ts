import { ApplicationFailure } from '@temporalio/workflow';
import { costExhausted, spendQuotaExceeded } from '../../src/core/jobs/failures.js';
import { failureOf, type JobFault } from '../../src/core/jobs/fault.js';
import { runRollouts } from '../activities.js';
import type { JobControl } from '../jobs/control.js';
import type { JobInput } from '../messages.js';

/**
 * Runs a range of the job's stored rollouts, waiting while the job is paused. Calls `onProgress`
 * after each activity.
 */
export async function runRolloutRange(
  { job, control }: { job: JobInput; control: JobControl },
  range: { from: number; to: number },
  summary: string,
  onProgress: () => void,
): Promise<void> {
  for (;;) {
    await control.waitUntilRunnable();
    const result = await control.untilRest(
      control.runUntilHistoryLimit(() => runRollouts.executeWithOptions({ summary }, [{ ...job, ...range }])),
    );
    if (!result) continue;
    control.counts = result.counts ?? control.counts;
    onProgress();
    if (result.fault) await failWith(result.fault, control);
    if (result.finished) return;
  }
}

/** Fails the job. A spent budget or quota ends it; a paused job ends once it is resumed. */
export async function failWith(fault: JobFault, control: JobControl): Promise<never> {
  if (fault.code === costExhausted || fault.code === spendQuotaExceeded) await control.waitUntilRunnable();
  throw ApplicationFailure.create(failureOf(fault));
}
