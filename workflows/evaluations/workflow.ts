import { CancellationScope, condition, continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities, GateEvaluation } from '../../activities/index.js';
import type { JobOutcome } from '../jobs/close.js';
import { JobControl } from '../jobs/control.js';
import type { CarriedState } from '../jobs/history-limit.js';
import { workflowId, type JobInput } from '../messages.js';
import { runSlices } from '../rollouts/rollouts.js';
import { RunningTime } from '../jobs/running-time.js';

/** What an evaluation's workflow must keep to. `leftMs` is what is left of its timeout, pauses not counted. */
interface Plan {
  total: number;
  timeoutMs: number;
  leftMs: number;
  maxFailureRate: number;
}

/** An evaluation's input; `resume` is what a run that continued as new handed on. `gate`: it is one of a deployment's gate. */
export interface EvaluationInput extends JobInput {
  gate?: GateEvaluation;
  resume?: { plan: Plan; control: CarriedState };
}

const { prepareEvaluation } = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500 milliseconds', maximumInterval: '5 seconds' },
});

const { openGateEvaluation } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' },
});

/** An offline evaluation: every listed seed to its one outcome, within the job's timeout. */
export async function evaluationWorkflow(input: EvaluationInput): Promise<void> {
  const job: JobInput = { orgId: input.orgId, jobId: input.jobId };
  const { gate } = input;
  // Nobody else has stored its row, nor could a cancellation close one that is not there.
  if (gate)
    await CancellationScope.nonCancellable(() =>
      openGateEvaluation({ ...job, evaluation: gate, workflowId: workflowId('evaluation', job.jobId) }),
    );
  let plan = input.resume?.plan ?? null;
  let time = plan && new RunningTime(plan.leftMs, true);
  const control: JobControl = new JobControl(
    job,
    {
      view: () => ({
        generation: 0,
        totalGenerations: 0,
        bestCandidate: null,
        bestReward: null,
        rolloutsCompleted: control.counts.succeeded + control.counts.failed,
        maxRollouts: plan?.total ?? null,
      }),
      search: () => null,
      publish: () => Promise.resolve(),
      continueAsNew: (carried) =>
        continueAsNew<typeof evaluationWorkflow>({
          ...job,
          resume: { plan: { ...plan!, leftMs: time!.left }, control: carried },
        }),
    },
    input.resume?.control,
  );

  /** Fails the job when it has been running, pauses not counted, for its timeout. */
  async function expire({ total, timeoutMs }: Plan, left: RunningTime): Promise<never> {
    await left.over(() => control.status === 'running');
    control.interrupt({
      status: 'failed',
      stoppedBy: 'timeout',
      error: {
        code: 'timeout',
        message: `The evaluation of ${total} seeds did not finish within its timeout of ${timeoutMs / 1000} s.`,
      },
    });
    return condition(() => false) as Promise<never>;
  }

  await control.run(async (): Promise<JobOutcome> => {
    if (!plan) {
      const prepared = await prepareEvaluation(job);
      plan = { ...prepared, leftMs: prepared.timeoutMs };
    }
    const { total, maxFailureRate } = plan;
    setCurrentDetails(`${total} seeds`);
    time ??= new RunningTime(plan.leftMs, false);
    const expired = expire(plan, time);
    const finished = async (): Promise<JobOutcome> => {
      const slice = { plan: null, from: 0, to: total, collect: false };
      await runSlices(job, control, slice, { decided: null }, `${total} seeds`);
      // A paused job stays paused until it is resumed, even with nothing left to do.
      await control.waitUntilRunnable();
      return control.completed('completed', maxFailureRate);
    };
    return Promise.race([finished(), expired]);
  });
}
