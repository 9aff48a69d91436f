import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import { drive, openGateEvaluation, prepare } from './activities.js';
import { failWorkflow } from './jobs/close.js';
import { JobControl, type JobWorkflowInput } from './jobs/control.js';
import type { JobInput } from './messages.js';
import type { JobSummary } from '../src/core/jobs/progress.js';

/**
 * The life of a job: prepare it, drive it from its record in Postgres, wait where it must, close
 * it. The workflow holds status, clock and undecided commands, and no state of the work.
 */
export async function jobWorkflow({ orgId, jobId, gate, carried }: JobWorkflowInput): Promise<JobSummary> {
  const job: JobInput = { orgId, jobId };
  if (gate) {
    // Such a job has no row yet, and a cancelled workflow needs one to close.
    const { workflowId } = workflowInfo();
    const opened = CancellationScope.nonCancellable(() => openGateEvaluation({ ...job, evaluation: gate, workflowId }));
    await opened.catch(failWorkflow);
  }
  const control = new JobControl(job, carried);
  return control.closing(async () => {
    control.begin(carried ?? (await prepare(job)));
    for (;;) {
      await control.untilRunnable();
      const rest = await control.driving(drive);
      if (rest.kind === 'failed') return { kind: 'failed', fault: rest.fault };
      if (rest.kind === 'unprepared') {
        control.details.prepares();
        await prepare(job);
      }
      if (rest.kind === 'rewards') await control.untilRewards();
      if (rest.kind === 'ended') {
        // A paused job stays paused until it is resumed, even with nothing left to do.
        await control.untilRunnable();
        return rest.end;
      }
    }
  });
}
