/** Jobs that run other jobs, one after the other: the record decides each. */
import { CancellationScope, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Advanced, Ending, PartJob } from '../../activities/index.js';
import { kindOf } from '../../src/core/jobs/kinds.js';
import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import { partsStatusQuery, type JobInput, type PartsView } from '../messages.js';
import { runChildJob, startJob, type ChildJob } from './child.js';
import { closeWorkflow, endOfError, failWorkflow } from './close.js';
import { ignoreSignals } from './ignored-signals.js';
import { readJob } from './input.js';
import { JobLists, listOutcome } from './lists.js';

export interface PartsWorkflow {
  /** The next step, or the end. */
  advance(job: JobInput): Promise<Advanced>;
  /** Closes the job; answers the end on record. */
  close(ended: JobInput & { ending: Ending }): Promise<JobOutcome>;
  /** The code of a failure because a part gave no result. */
  code: string;
}

/** Runs the parts of a job to its end, and starts the deployment that it makes. */
export async function runParts(input: unknown, { advance, close, code }: PartsWorkflow): Promise<void> {
  const job = readJob(input);
  const lists = new JobLists(job);
  ignoreSignals(job);
  let view: PartsView = { status: 'running' };
  const show = (next: PartsView) => {
    view = next;
    setCurrentDetails(detailsOf(next));
  };
  const end = async (outcome: JobOutcome) => {
    show({ status: outcome.status });
    listOutcome(outcome);
    await lists.refresh();
  };
  setHandler(partsStatusQuery, () => view, {
    description: 'Status of the job, and the job that it waits for.',
  });
  try {
    for (;;) {
      const advanced = await advance(job);
      if (advanced.kind === 'ended') {
        const { deployment } = advanced;
        await CancellationScope.nonCancellable(async () => {
          if (deployment) await startJob(job, deploymentOf(deployment));
          await end({ status: 'completed', stoppedBy: 'completed', error: null });
        });
        return;
      }
      const next = advanced.job;
      show({ status: 'running', step: next.part, job: next.jobId });
      await runChildJob(job, childOf(job, next, code));
    }
  } catch (error) {
    const ending = endingOf(error);
    const recorded = await CancellationScope.nonCancellable(async () => {
      const recorded = await close({ ...job, ending });
      await end(recorded);
      return recorded;
    }).catch(failWorkflow);
    await closeWorkflow(recorded);
  }
}

function childOf(
  { jobId: parent }: JobInput,
  { part, jobId, algorithm, name, title }: PartJob,
  code: string,
): ChildJob {
  const kind = kindOf(jobId)!;
  const fault = (reason: string) => ({
    code,
    message: `The ${title} ${jobId} gave no result: ${reason}. ${name} serves what it served before.`,
  });
  return { jobId, kind, algorithm, name, summary: `${title} ${jobId} of ${parent}: ${part}`, fault };
}

function deploymentOf({ jobId, name }: { jobId: string; name: string }) {
  return { jobId, kind: 'deployment' as const, algorithm: 'none', name, summary: `deployment ${jobId}: ${name}` };
}

function detailsOf({ status, step, job }: PartsView): string {
  return job ? `${step}: ${job} since ${new Date().toISOString()}` : status;
}

function endingOf(error: unknown): Ending {
  // Once the workflow is cancelled, every error is a consequence of that.
  const isCancelled = CancellationScope.current().consideredCancelled;
  const end = endOfError(error);
  if (isCancelled || end.kind === 'cancelled') return { status: 'cancelled', error: null };
  return { status: 'failed', error: end.fault };
}
