import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import { drive, openGateEvaluation } from './activities.js';
import { failWorkflow } from './jobs/close.js';
import { JobControl } from './jobs/control.js';
import { readJobInput } from './jobs/input.js';
import type { JobInput } from './messages.js';
import type { JobSummary } from '../src/core/jobs/progress.js';

/**
 * The life of a job: prepare it, drive it from its record in Postgres, wait where it must, close
 * it. The workflow holds status, clock and undecided commands, and no state of the work.
 */
export async function jobWorkflow(input?: unknown): Promise<JobSummary> {
  const { orgId, jobId, gate, carried } = readJobInput(input);
  const job: JobInput = { orgId, jobId };
  if (gate) {
    // Such a job has no row yet, and a cancelled workflow needs one to close.
    const { workflowId } = workflowInfo();
    const opened = CancellationScope.nonCancellable(() => openGateEvaluation({ ...job, evaluation: gate, workflowId }));
    await opened.catch(failWorkflow);
  }
  const control = new JobControl(job, carried);
  return control.closing(async () => {
    if (carried) control.begin(carried);
    else await control.prepare();
    for (;;) {
      await control.untilRunnable();
      const rest = await control.driving(drive);
      if (rest.kind === 'failed') return rest;
      if (rest.kind === 'unprepared') await control.prepare();
      if (rest.kind === 'rewards') await control.untilRewards();
      if (rest.kind === 'ended') {
        // A paused job stays paused until it is resumed, even with nothing left to do.
        await control.untilRunnable();
        const closed = await control.conclude(rest.end);
        if (closed) return closed;
      }
    }
  });
}
