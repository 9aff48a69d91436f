import { CancellationScope, condition, continueAsNew, setCurrentDetails } from '@temporalio/workflow';
import type { GateEvaluation } from '../../activities/index.js';
import { openGateEvaluation, prepareEvaluation } from '../activities.js';
import type { JobOutcome } from '../jobs/close.js';
import { JobControl } from '../jobs/control.js';
import type { CarriedState } from '../jobs/history-limit.js';
import { RunningTime } from '../jobs/running-time.js';
import { workflowId } from '../../src/core/jobs/kinds.js';
import type { JobInput, JobSummary } from '../messages.js';
import { runRolloutRange } from '../rollouts/run.js';

/** An evaluation's limits; `leftMs`: the rest of its timeout, pauses not counted. */
interface EvaluationLimits {
  total: number;
  timeoutMs: number;
  leftMs: number;
  maxFailureRate: number;
}

/** `resume`: the state of an earlier run; `gate`: a deployment's gate runs the evaluation. */
export interface EvaluationInput extends JobInput {
  gate?: GateEvaluation;
  resume?: { limits: EvaluationLimits; control: CarriedState };
}

/** An offline evaluation: runs every listed seed to its outcome, within the job's timeout. */
export async function evaluationWorkflow(input: EvaluationInput): Promise<JobSummary> {
  const job: JobInput = { orgId: input.orgId, jobId: input.jobId };
  const { gate } = input;
  if (gate) {
    // A gate's evaluation has no row yet, and a cancelled workflow needs one to close.
    await CancellationScope.nonCancellable(() =>
      openGateEvaluation({ ...job, evaluation: gate, workflowId: workflowId('evaluation', job.jobId) }),
    );
  }
  let limits = input.resume?.limits ?? null;
  let time = limits && new RunningTime(limits.leftMs, true);
  const control: JobControl = new JobControl(
    job,
    {
      statusView: () => ({
        generation: 0,
        totalGenerations: 0,
        bestCandidate: null,
        bestReward: null,
        rolloutsCompleted: control.counts.succeeded + control.counts.failed,
        maxRollouts: limits?.total ?? null,
      }),
      searchView: () => null,
      recordPending: () => Promise.resolve(),
      continueAsNew: (carried) =>
        continueAsNew<typeof evaluationWorkflow>({
          ...job,
          resume: { limits: { ...limits!, leftMs: time!.left }, control: carried },
        }),
    },
    input.resume?.control,
  );

  return control.run(async (): Promise<JobOutcome> => {
    if (!limits) {
      const prepared = await prepareEvaluation(job);
      limits = { ...prepared, leftMs: prepared.timeoutMs };
    }
    const { total, maxFailureRate } = limits;
    const showProgress = () =>
      setCurrentDetails(`${control.counts.succeeded + control.counts.failed} of ${total} seeds`);
    showProgress();
    time ??= new RunningTime(limits.leftMs, false);
    const expired = failWhenExpired(control, time, limits);
    const finished = async (): Promise<JobOutcome> => {
      await runRolloutRange({ job, control }, { from: 0, to: total }, `${total} seeds`, showProgress);
      // A paused job stays paused until it is resumed, even with nothing left to do.
      await control.waitUntilRunnable();
      return control.completed('completed', maxFailureRate);
    };
    return Promise.race([finished(), expired]);
  });
}

/** Fails the job at its timeout. Never resolves: the interruption cancels the waiting work. */
async function failWhenExpired(
  control: JobControl,
  time: RunningTime,
  { total, timeoutMs }: EvaluationLimits,
): Promise<never> {
  await time.expired(() => control.status === 'running');
  const message = `The evaluation of ${total} seeds did not finish within its timeout of ${timeoutMs / 1000} s.`;
  control.interrupt(() => ({ status: 'failed', stoppedBy: 'timeout', error: { code: 'timeout', message } }));
  return condition(() => false) as Promise<never>;
}
