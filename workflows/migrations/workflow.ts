import { CancellationScope, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { MigrationJob } from '../../activities/index.js';
import { kindOf } from '../../src/core/jobs/kinds.js';
import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import { advanceMigration, closeMigration } from '../activities.js';
import { runChildJob, startJob, type ChildJob } from '../jobs/child.js';
import { closeWorkflow, endOfError, failWorkflow } from '../jobs/close.js';
import { ignoreSignals } from '../jobs/ignored-signals.js';
import { readJob } from '../jobs/input.js';
import { JobLists, listOutcome } from '../jobs/lists.js';
import { migrationStatusQuery, type JobInput, type MigrationView } from '../messages.js';

/**
 * Compares what a name serves with its prompt on another model. The record decides each step: the
 * workflow runs the jobs that it names, one after the other.
 */
export async function migrationWorkflow(input?: unknown): Promise<void> {
  const job = readJob(input);
  const lists = new JobLists(job);
  ignoreSignals(job);
  let view: MigrationView = { status: 'running' };
  const show = (next: MigrationView) => {
    view = next;
    setCurrentDetails(detailsOf(next));
  };
  const end = async (outcome: JobOutcome) => {
    show({ status: outcome.status });
    listOutcome(outcome);
    await lists.refresh();
  };
  setHandler(migrationStatusQuery, () => view, {
    description: 'Status of the migration, and the job that it waits for.',
  });
  try {
    for (;;) {
      const advanced = await advanceMigration(job);
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
      await runChildJob(job, childOf(job, next));
    }
  } catch (error) {
    const ending = endingOf(error);
    const recorded = await CancellationScope.nonCancellable(async () => {
      const recorded = await closeMigration({ ...job, ending });
      await end(recorded);
      return recorded;
    }).catch(failWorkflow);
    await closeWorkflow(recorded);
  }
}

function childOf({ jobId: parent }: JobInput, { part, jobId, algorithm, name, title }: MigrationJob): ChildJob {
  const kind = kindOf(jobId)!;
  const fault = (reason: string) => ({
    code: 'migration_step_failed',
    message: `The ${title} ${jobId} gave no result: ${reason}. ${name} serves what it served before.`,
  });
  return { jobId, kind, algorithm, name, summary: `${title} ${jobId} of ${parent}: ${part}`, fault };
}

function deploymentOf({ jobId, name }: { jobId: string; name: string }) {
  return { jobId, kind: 'deployment' as const, algorithm: 'none', name, summary: `deployment ${jobId}: ${name}` };
}

function detailsOf({ status, step, job }: MigrationView): string {
  return job ? `${step}: ${job} since ${new Date().toISOString()}` : status;
}

function endingOf(error: unknown) {
  // Once the workflow is cancelled, every error is a consequence of that.
  const isCancelled = CancellationScope.current().consideredCancelled;
  const end = endOfError(error);
  if (isCancelled || end.kind === 'cancelled') return { status: 'cancelled' as const, error: null };
  return { status: 'failed' as const, error: end.fault };
}
