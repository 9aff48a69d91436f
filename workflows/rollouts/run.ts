import { ApplicationFailure } from '@temporalio/workflow';
import type { RunRolloutsInput } from '../../activities/index.js';
import { costExhausted } from '../../src/core/jobs/failures.js';
import { packRequests, unpackAnswers, type PackedAnswers } from '../../src/core/jobs/rollout-packing.js';
import type { RolloutAnswer, RolloutRequest } from '../../src/core/search/protocol.js';
import { runRollouts } from '../activities.js';
import type { JobControl } from '../jobs/control.js';
import type { PendingUpdate } from '../jobs/pending-update.js';
import type { JobInput } from '../messages.js';

export interface RolloutContext {
  job: JobInput;
  control: JobControl;
  pending: PendingUpdate;
}

/** Runs rollouts to their outcomes. Returns the answers in the order asked. */
export async function answerByRollouts(
  context: RolloutContext,
  requests: RolloutRequest[],
  summary: string,
): Promise<RolloutAnswer[]> {
  const from = requests[0]?.ordinal ?? 0;
  const range = { newRequests: packRequests(requests), from, to: from + requests.length, collect: true };
  const answers = await runRolloutRange(context, range, summary);
  return answers ? unpackAnswers(answers) : [];
}

/** Runs a range of the job's rollouts, waiting while the job is paused. Null unless `collect`. */
export async function runRolloutRange(
  { job, control, pending }: RolloutContext,
  range: Pick<RunRolloutsInput, 'newRequests' | 'from' | 'to' | 'collect'>,
  summary: string,
): Promise<PackedAnswers | null> {
  let { newRequests } = range;
  for (;;) {
    await control.waitUntilRunnable();
    const result = await control.untilRest(
      control.runUntilHistoryLimit(() =>
        pending.recordWith((update) =>
          runRollouts.executeWithOptions({ summary }, [{ ...job, ...range, newRequests, ...update }]),
        ),
      ),
    );
    if (!result) continue;
    newRequests = null;
    control.counts = result.counts;
    if (result.fault) {
      const { message, code, retryable } = result.fault;
      // A spent budget ends the job, and a paused job stays paused until it is resumed.
      if (code === costExhausted) await control.waitUntilRunnable();
      throw ApplicationFailure.nonRetryable(message, code, { retryable });
    }
    if (result.finished) return result.answers;
  }
}
