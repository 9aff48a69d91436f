import { ActivityCancellationType, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { Activities, Decided, SliceInput } from '../activities/index.js';
import { packRequests, unpackAnswers, type PackedAnswers } from '../src/core/batches.js';
import type { RolloutAnswer, RolloutRequest } from '../src/core/work.js';
import type { JobControl } from './job-control.js';
import type { JobInput } from './messages.js';

// One activity runs many rollouts and is bounded by its heartbeat, not by its length: each outcome is in Postgres as soon
// as it is known, so a retry pays only for the rest.
const { runRollouts } = proxyActivities<Activities>({
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * Has rollouts run to their outcomes, slice by slice, waiting wherever the job is paused. What the search decided is
 * recorded before the first. Answers in the order asked.
 */
export async function runToEnd(
  job: JobInput,
  control: JobControl,
  requests: RolloutRequest[],
  decided: Decided | null,
  summary: string,
): Promise<RolloutAnswer[]> {
  const from = requests[0]?.ordinal ?? 0;
  const slice = {
    plan: packRequests(requests),
    from,
    to: from + requests.length,
    collect: true,
    ...(decided && { decided }),
  };
  const answers = await runSlices(job, control, slice, summary);
  return answers ? unpackAnswers(answers) : [];
}

/**
 * Has the rollouts `from` to `to` (exclusive) run; `plan` adds them first where they are not there yet. Answers are
 * returned only where `collect` asks for them.
 */
export async function runSlices(
  job: JobInput,
  control: JobControl,
  { plan, decided, ...slice }: Pick<SliceInput, 'plan' | 'from' | 'to' | 'collect' | 'decided'>,
  summary: string,
): Promise<PackedAnswers | null> {
  let first = { plan, ...(decided && { decided }) };
  for (;;) {
    await control.mayStart();
    const report = await runRollouts.executeWithOptions({ summary }, [{ ...job, ...slice, ...first }]);
    first = { plan: null };
    control.counts = report.counts;
    if (report.fault) throw ApplicationFailure.nonRetryable(report.fault.message, report.fault.code);
    if (report.finished) return report.answers;
  }
}
