import { condition, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { JobControl, type Ending } from './job-control.js';
import type { JobInput } from './messages.js';
import { runSlices } from './rollouts.js';

const { prepareEvaluation } = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500 milliseconds', maximumInterval: '5 seconds' },
});

/** An offline evaluation: every listed seed to its one outcome, within the job's timeout. */
export async function evaluationWorkflow(job: JobInput): Promise<void> {
  let total = 0;
  let completed = 0;
  const control = new JobControl(job, {
    view: () => ({
      generation: 0,
      totalGenerations: 0,
      bestCandidate: null,
      bestReward: null,
      rolloutsCompleted: completed,
      maxRollouts: total || null,
    }),
    search: () => null,
  });

  await control.run(async (): Promise<Ending> => {
    const plan = await prepareEvaluation(job);
    total = plan.total;
    setCurrentDetails(`${total} seeds`);
    const expired = expire(control, plan.timeoutMs, total);
    const finished = async (): Promise<Ending> => {
      await runSlices(job, control, { plan: null, from: 0, to: total, collect: false }, `${total} seeds`);
      completed = total;
      // A paused job stays paused until it is resumed, even with nothing left to do.
      await control.mayStart();
      return control.completed('completed', plan.maxFailureRate);
    };
    return Promise.race([finished(), expired]);
  });
}

/** Fails the job when it has been running, pauses not counted, for `timeoutMs`. */
async function expire(control: JobControl, timeoutMs: number, total: number): Promise<never> {
  let remainingMs = timeoutMs;
  for (;;) {
    await condition(() => control.status === 'running');
    const since = Date.now();
    const paused = await condition(() => control.status !== 'running', remainingMs);
    remainingMs -= Date.now() - since;
    if (paused && remainingMs > 0) continue;
    control.interrupt({
      status: 'failed',
      stoppedBy: 'timeout',
      error: {
        code: 'timeout',
        message: `The evaluation of ${total} seeds did not finish within its timeout of ${timeoutMs / 1000} s.`,
      },
    });
    await condition(() => false);
  }
}
