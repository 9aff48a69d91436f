import {
  ActivityCancellationType,
  CancellationScope,
  executeChild,
  isCancellation,
  proxyActivities,
  setHandler,
  upsertSearchAttributes,
  ApplicationFailure,
  ChildWorkflowFailure,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import type { Activities, GateRun, Incumbent } from '../../activities/index.js';
import { outcomeOfError, type JobOutcome } from '../jobs/close.js';
import { evaluationWorkflow } from '../evaluations/workflow.js';
import {
  algorithmAttribute,
  deploymentStatusQuery,
  kindAttribute,
  orgAttribute,
  statusAttribute,
  workflowId,
  type DeploymentView,
  type JobInput,
} from '../messages.js';

const { freezeDeployment, nextIncumbent, concludeGate, publishDeployment, closeDeployment, requestCancellation } =
  proxyActivities<Activities>({
    startToCloseTimeout: '30 seconds',
    retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' },
    // Whether a name was taken must be known before the deployment is said to be cancelled.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  });

/** So often a candidate is judged at most, where its name is served by another each time. */
const maxRounds = 20;

/** A deployment: its source frozen, judged by its gate, and live. What fails on the way leaves live what was. */
export async function deploymentWorkflow(input: JobInput): Promise<void> {
  const job: JobInput = { orgId: input.orgId, jobId: input.jobId };
  let view: DeploymentView = { status: 'pending' };
  const show = (next: DeploymentView, attribute: string) => {
    view = next;
    upsertSearchAttributes([{ key: statusAttribute, value: attribute }]);
  };
  setHandler(deploymentStatusQuery, () => view, { description: 'Where the deployment stands, and what of its gate.' });
  try {
    show({ status: 'building' }, 'running');
    const { candidate, comparesWith } = await freezeDeployment(job);
    if (candidate) {
      view = { status: 'building', evaluation: candidate.jobId };
      await evaluate(job, candidate);
    }
    /** What was evaluated in this gate already, by what ran. */
    const measured = new Map<string | null, GateRun>();
    for (let round = 0; ; round += 1) {
      if (round === maxRounds) throw overtaken();
      const next = comparesWith === 'incumbent' ? await nextIncumbent({ ...job, round }) : null;
      const known = next && measured.get(next.run.evaluation.snapshotId);
      const incumbent = next && known ? { ...next, run: known } : next;
      if (incumbent && !known) {
        view = { status: 'building', evaluation: incumbent.run.jobId };
        await evaluate(job, incumbent.run);
        measured.set(incumbent.run.evaluation.snapshotId, incumbent.run);
      }
      if (candidate) await concludeGate({ ...job, candidate, incumbent });
      if ((await publish(job, incumbent)) === 'done') break;
    }
    show({ status: 'ready' }, 'completed');
  } catch (error) {
    const ending = ended(error);
    const { status, error: fault } = ending;
    const details = fault ? { retryable: false, ...fault } : null;
    show({ status: 'failed' }, status);
    await CancellationScope.nonCancellable(() =>
      closeDeployment({ ...job, ending: { status: status === 'cancelled' ? status : 'failed', error: details } }),
    );
    // Closed as its row is: CANCELED, or FAILED with the reason.
    if (status === 'cancelled') {
      // Temporal closes a workflow as CANCELED only when it was asked to cancel it.
      if (!CancellationScope.current().consideredCancelled) await requestCancellation();
      await CancellationScope.current().cancelRequested;
    }
    throw ApplicationFailure.nonRetryable(fault?.message ?? status, fault?.code ?? 'failed');
  }
}

function overtaken(): ApplicationFailure {
  const message = `Its name was served by another ${maxRounds} times while it was judged. What was live stays live.`;
  return ApplicationFailure.nonRetryable(message, 'gate_overtaken', { retryable: true });
}

/** Where nothing was compared, whoever served the name meanwhile does not matter. */
function publish(job: JobInput, incumbent: Incumbent | null): Promise<'done' | 'moved'> {
  return publishDeployment(incumbent ? { ...job, against: incumbent.deploymentId } : job);
}

/** Runs an evaluation of the gate to its end; one that is not completed ends the deployment. */
async function evaluate({ orgId }: JobInput, { jobId, evaluation }: GateRun): Promise<void> {
  try {
    await executeChild(evaluationWorkflow, {
      workflowId: workflowId('evaluation', jobId),
      args: [{ orgId, jobId, gate: evaluation }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      staticSummary: `offline evaluation ${jobId} of the gate of ${evaluation.deploymentId}`,
      typedSearchAttributes: [
        { key: orgAttribute, value: orgId },
        { key: kindAttribute, value: 'evaluation' },
        { key: algorithmAttribute, value: 'none' },
        { key: statusAttribute, value: 'running' },
      ],
    });
  } catch (error) {
    if (CancellationScope.current().consideredCancelled || !(error instanceof ChildWorkflowFailure)) throw error;
    const why = isCancellation(error) ? 'it was cancelled' : rootCause(error);
    throw ApplicationFailure.nonRetryable(
      `The gate's evaluation ${jobId} gave no result: ${why} What was live stays live.`.replace(
        /(?<![.!?]) What/,
        '. What',
      ),
      'gate_failed',
      { retryable: true },
    );
  }
}

/** What lies at the bottom of a failure. */
function rootCause(error: Error): string {
  return error.cause instanceof Error ? rootCause(error.cause) : error.message;
}

function ended(error: unknown): JobOutcome {
  // What fails once it is to end fails because of that, an activity that is not tried again, say.
  if (CancellationScope.current().consideredCancelled) return { status: 'cancelled', stoppedBy: 'cancelled' };
  const ending = outcomeOfError(error);
  return ending.error?.code === 'deployment_deleted' ? { status: 'cancelled', stoppedBy: 'deleted' } : ending;
}
