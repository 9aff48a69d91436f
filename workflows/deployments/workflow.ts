import { ApplicationFailure, CancellationScope, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { GateRun } from '../../activities/index.js';
import type { CanarySeen } from '../../src/core/deployments/canary/canary.js';
import { failureOf } from '../../src/core/jobs/fault.js';
import {
  closeDeployment,
  concludeGate,
  followCanary,
  snapshotSource,
  nextIncumbent,
  nextRepeats,
  promoteDeployment,
} from '../activities.js';
import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import { runChildJob, type ChildJob } from '../jobs/child.js';
import { closeWorkflow, endOfError, failWorkflow } from '../jobs/close.js';
import { ignoreSignals } from '../jobs/ignored-signals.js';
import { readJob } from '../jobs/input.js';
import { JobLists, listOutcome } from '../jobs/lists.js';
import { deploymentStatusQuery, type DeploymentView } from '../messages.js';

/** The gate is judged again where the live deployment changed meanwhile, at most this often. */
const maxRounds = 20;

/** Freezes a source, judges it by its gate, and makes it live, at once or step by step. */
export async function deploymentWorkflow(input?: unknown): Promise<void> {
  const job = readJob(input);
  const lists = new JobLists(job);
  ignoreSignals(job);
  let view: DeploymentView = { status: 'pending' };
  const show = (next: DeploymentView) => {
    view = next;
    setCurrentDetails(detailsOf(next));
  };
  const end = async (next: DeploymentView, outcome: JobOutcome) => {
    show(next);
    listOutcome(outcome);
    await lists.refresh();
  };
  const evaluate = async (run: GateRun) => {
    show({ status: 'building', evaluation: run.jobId });
    await runChildJob(job, evaluationOf(run));
    show({ status: 'building' });
    await lists.refresh();
  };
  const followToEnd = async () => {
    let seen: CanarySeen | null = null;
    for (;;) {
      const next: CanarySeen | 'live' = await followCanary({ ...job, seen });
      if (next === 'live') return;
      seen = next;
      show({ status: 'rolling_out', canary: next });
      await lists.refresh();
    }
  };
  setHandler(deploymentStatusQuery, () => view, {
    description: "Status of the deployment, and its gate's current evaluation.",
  });
  try {
    show({ status: 'building' });
    const { candidate, comparesWith } = await snapshotSource(job);
    if (candidate) await evaluate(candidate);
    /** The gate's evaluations of incumbents, by snapshot. */
    const evaluated = new Map<string | null, GateRun>();
    for (let round = 0; ; round += 1) {
      if (round === maxRounds) throw overtaken();
      const next = comparesWith === 'incumbent' ? await nextIncumbent({ ...job, round }) : null;
      const known = next && evaluated.get(next.run.evaluation.snapshotId);
      const incumbent = next && known ? { ...next, run: known } : next;
      if (incumbent && !known) {
        await evaluate(incumbent.run);
        evaluated.set(incumbent.run.evaluation.snapshotId, incumbent.run);
      }
      const repeats = candidate && incumbent ? await nextRepeats({ ...job, candidate, incumbent }) : [];
      if (!known) for (const run of repeats) await evaluate(run);
      if (candidate) await concludeGate({ ...job, candidate, incumbent, repeats });
      // Without a comparison it does not matter which deployment is live by now.
      const published = await promoteDeployment(incumbent ? { ...job, against: incumbent.deploymentId } : job);
      if (published === 'canary') await followToEnd();
      if (published !== 'moved') break;
    }
    const completed: JobOutcome = { status: 'completed', stoppedBy: 'completed', error: null };
    await CancellationScope.nonCancellable(() => end({ status: 'ready' }, completed));
  } catch (error) {
    const outcome = deploymentOutcome(error);
    const recorded = await CancellationScope.nonCancellable(async () => {
      const recorded = await closeDeployment({ ...job, ending: { status: outcome.status, error: outcome.error } });
      // A deployment that had ended before, whose workflow was reset, stays ready.
      await end({ status: recorded.status === 'completed' ? 'ready' : 'failed' }, recorded);
      return recorded;
    }).catch(failWorkflow);
    await closeWorkflow(recorded);
  }
}

function evaluationOf({ jobId, evaluation: gate }: GateRun): ChildJob {
  const { name, deploymentId } = gate;
  const summary = `offline evaluation ${jobId} of the gate of ${deploymentId}`;
  const fault = (reason: string) => {
    const message = `The gate's evaluation ${jobId} gave no result: ${reason}. Its name serves what it served before.`;
    return { code: 'gate_failed', message };
  };
  return { jobId, kind: 'evaluation', algorithm: 'none', name, summary, gate, fault };
}

/** What a deployment does or waits for, and since when. */
function detailsOf({ status, evaluation, canary }: DeploymentView): string {
  const since = `since ${new Date().toISOString()}`;
  if (canary) {
    const { step, percent, isShadow, status: state } = canary;
    return `canary: step ${step}, ${percent} % of the requests${isShadow ? ' in shadow' : ''}, ${state} ${since}`;
  }
  if (evaluation) return `gate: evaluation ${evaluation} ${since}`;
  return status === 'building' ? `building ${since}` : status;
}

function overtaken(): ApplicationFailure {
  const message = `The live deployment of this name changed ${maxRounds} times while the gate was judged. Its name serves what it served before.`;
  return ApplicationFailure.create(failureOf({ code: 'gate_overtaken', message, retryable: true }));
}

function deploymentOutcome(error: unknown): JobOutcome & { status: 'failed' | 'cancelled' } {
  // Once the workflow is cancelled, every error is a consequence of that.
  if (CancellationScope.current().consideredCancelled) return cancelled('cancelled');
  const end = endOfError(error);
  if (end.kind === 'cancelled') return cancelled('cancelled');
  if (end.fault.code === 'deployment_deleted') return cancelled('deleted');
  return { status: 'failed', stoppedBy: 'failed', error: end.fault };
}

function cancelled(stoppedBy: string): JobOutcome & { status: 'cancelled' } {
  return { status: 'cancelled', stoppedBy, error: null };
}
