import { ActivityCancellationType, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { Activities, SearchUpdate, SliceInput } from '../../activities/index.js';
import { packRequests, unpackAnswers, type PackedAnswers } from '../../src/core/jobs/rollout-packing.js';
import { costExhausted } from '../../src/core/jobs/failures.js';
import type { RolloutAnswer, RolloutRequest } from '../../src/core/search/protocol.js';
import type { JobControl } from '../jobs/control.js';
import type { JobInput } from '../messages.js';

// One activity runs many rollouts and is bounded by its heartbeat, not by its length: each outcome is in Postgres as soon
// as it is known, so a retry pays only for the rest. Cancelled, it lets end what is in flight; a job's end stops it by its
// control row, and no workflow waits for it then.
const { runRollouts } = proxyActivities<Activities>({
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** What a search has decided and nobody has written down yet; the work that follows does it on its way. */
export interface PendingDecision {
  decided: SearchUpdate | null;
}

/** Has rollouts run to their outcomes, slice by slice, waiting wherever the job is paused. Answers in the order asked. */
export async function runRolloutsToEnd(
  job: JobInput,
  control: JobControl,
  requests: RolloutRequest[],
  pending: PendingDecision,
  summary: string,
): Promise<RolloutAnswer[]> {
  const from = requests[0]?.ordinal ?? 0;
  const slice = { plan: packRequests(requests), from, to: from + requests.length, collect: true };
  const answers = await runSlices(job, control, slice, pending, summary);
  return answers ? unpackAnswers(answers) : [];
}

/**
 * Has the rollouts `from` to `to` (exclusive) run; `plan` adds them first where they are not there yet. Answers are
 * returned only where `collect` asks for them.
 */
export async function runSlices(
  job: JobInput,
  control: JobControl,
  slice: Pick<SliceInput, 'plan' | 'from' | 'to' | 'collect'>,
  pending: PendingDecision,
  summary: string,
): Promise<PackedAnswers | null> {
  let { plan } = slice;
  for (;;) {
    await control.waitUntilRunnable();
    const { decided } = pending;
    const input = { ...job, ...slice, plan, ...(decided && { decided }) };
    const report = await control.runUntilHistoryLimit(() => runRollouts.executeWithOptions({ summary }, [input]));
    if (!report) continue;
    plan = null;
    pending.decided = null;
    control.counts = report.counts;
    if (report.fault) {
      const { message, code, retryable } = report.fault;
      // That is an end, and a paused job stays paused until it is resumed.
      if (code === costExhausted) await control.waitUntilRunnable();
      throw ApplicationFailure.nonRetryable(message, code, { retryable });
    }
    if (report.finished) return report.answers;
  }
}
