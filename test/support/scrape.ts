import { createMetrics } from '../../src/service/metrics.js';
import { mergeMetrics } from '../../src/service/metrics/merge.js';

/** All metrics of a process that serves and works; a series appears with its first value. */
export async function scrapeAll(): Promise<string> {
  const metrics = createMetrics();
  metrics.request('GET', '/', 200, 1);
  metrics.rollout('failed', 1, 'container_timeout');
  for (const status of [200, 400, 429, 500])
    for (const costUsd of [1, null])
      metrics.modelCall({
        provider: 'openai',
        model: 'gpt',
        purpose: 'deployment',
        status,
        seconds: 1,
        promptTokens: 1,
        completionTokens: 1,
        costUsd,
      });
  const served = { organization: 'default', deployment: 'support' };
  const used = { version: 1, seconds: 1, promptTokens: 1, completionTokens: 1, costUsd: 1 };
  metrics.deploymentRequest({ ...served, ...used, outcome: 'ok', code: null });
  metrics.deploymentRequest({ ...served, ...used, outcome: 'error', code: 'upstream_timeout' });
  metrics.deploymentReward({ ...served, reward: 1 });
  for (const score of [1, null]) metrics.deploymentJudged({ ...served, score });
  metrics.retry('container');
  metrics.proposal('accepted');
  metrics.jobEnded('session', 'completed');
  metrics.workflowTaskFailure('non_deterministic_error');
  metrics.stoodStill('rollout');
  metrics.eventLag(1);
  metrics.sample(() =>
    Promise.resolve({
      openJobs: [{ kind: 'session', status: 'running', count: 1, progressAge: 1 }],
      stuckJobs: [{ cause: 'non_deterministic_error', count: 1 }],
      liveWorkers: 1,
      taskQueues: [{ type: 'workflow', backlog: 1, ageSeconds: 1 }],
    }),
  );
  metrics.worker(() => [{ type: 'workflow', used: 1, total: 2 }]);
  metrics.storedBytes(new Map([['default', 1]]));
  return mergeMetrics([metrics.values]);
}
