import { packRequests, unpackAnswers } from '../../src/core/jobs/rollout-packing.js';
import type { RolloutAnswer, RolloutRequest } from '../../src/core/search/protocol.js';
import { exchangeSlots } from '../activities.js';
import type { JobControl } from '../jobs/control.js';
import type { PendingUpdate } from '../jobs/pending-update.js';
import type { JobInput } from '../messages.js';

interface LiveContext {
  job: JobInput;
  control: JobControl;
  pending: PendingUpdate;
}

/**
 * Publishes rollouts as slots for live traffic and waits, without a time limit, for their rewards.
 * Returns the answers in the order asked, and how calls are compared.
 */
export async function answerByTraffic(
  { job, control, pending }: LiveContext,
  requests: RolloutRequest[],
  summary: string,
): Promise<{ answers: RolloutAnswer[]; traffic: 'paired' | 'unpaired' | null }> {
  const from = requests[0]?.ordinal ?? 0;
  const slots = { requests: packRequests(requests), from, to: from + requests.length };
  for (;;) {
    await control.waitUntilRunnable();
    control.clearRewards();
    const result = await pending.recordWith((update) =>
      exchangeSlots.executeWithOptions({ summary }, [{ ...job, ...slots, ...update }]),
    );
    control.counts = result.counts;
    if (result.answers) return { answers: unpackAnswers(result.answers), traffic: result.traffic };
    await control.waitForRewards();
  }
}
