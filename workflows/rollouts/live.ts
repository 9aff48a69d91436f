import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { packRequests, unpackAnswers } from '../../src/core/jobs/rollout-packing.js';
import type { RolloutAnswer, RolloutRequest } from '../../src/core/search/protocol.js';
import type { JobControl } from '../jobs/control.js';
import type { JobInput } from '../messages.js';
import type { PendingDecision } from './rollouts.js';

const { exchangeSlots } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' },
});

/**
 * Has live traffic answer rollouts: publishes them as slots and waits, as long as it takes, for the word that all of them have
 * their reward. Answers in the order asked, and how calls are compared.
 */
export async function answeredByTraffic(
  job: JobInput,
  control: JobControl,
  requests: RolloutRequest[],
  pending: PendingDecision,
  summary: string,
): Promise<{ answers: RolloutAnswer[]; traffic: 'paired' | 'unpaired' | null }> {
  const from = requests[0]?.ordinal ?? 0;
  const slots = { plan: packRequests(requests), from, to: from + requests.length };
  for (;;) {
    await control.waitUntilRunnable();
    control.hasRewards = false;
    const { decided } = pending;
    const report = await exchangeSlots.executeWithOptions({ summary }, [
      { ...job, ...slots, ...(decided && { decided }) },
    ]);
    pending.decided = null;
    control.counts = report.counts;
    if (report.answers) return { answers: unpackAnswers(report.answers), traffic: report.traffic };
    await control.rewards();
  }
}
