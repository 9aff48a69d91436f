import { expect, jest, test } from '@jest/globals';
import { createMetrics, type MeasuredCall } from '../../../src/service/metrics.js';
import { mergeMetrics } from '../../../src/service/metrics/merge.js';

const call: MeasuredCall = {
  provider: 'openai',
  model: 'gpt',
  purpose: 'policy',
  status: 200,
  seconds: 0.1,
  promptTokens: 10,
  completionTokens: 2,
  costUsd: 0.5,
};
const textOf = (...metrics: ReturnType<typeof createMetrics>[]) => mergeMetrics(metrics.map(({ values }) => values));

test('adds tokens and known costs of model calls, and counts the unknown ones', async () => {
  const metrics = createMetrics();
  metrics.modelCall(call);
  metrics.modelCall({ ...call, status: 429, promptTokens: 0, completionTokens: 0, costUsd: 0 });
  metrics.modelCall({ ...call, status: null, promptTokens: null, completionTokens: null, costUsd: null });
  const text = await textOf(metrics);
  const labels = 'provider="openai",model="gpt"';
  expect(text).toContain(`ratchet_model_calls_total{${labels},purpose="policy",outcome="ok"} 1`);
  expect(text).toContain(`ratchet_model_calls_total{${labels},purpose="policy",outcome="rate_limited"} 1`);
  expect(text).toContain(`ratchet_model_calls_total{${labels},purpose="policy",outcome="failed"} 1`);
  expect(text).toContain(`ratchet_model_tokens_total{${labels},type="input"} 10`);
  expect(text).toContain(`ratchet_model_tokens_total{${labels},type="output"} 2`);
  expect(text).toContain(`ratchet_model_cost_usd_total{${labels}} 0.5`);
  expect(text).toContain(`ratchet_model_calls_unknown_cost_total{${labels}} 1`);
});

test('the number of models and of error codes is bounded', async () => {
  const metrics = createMetrics();
  for (let i = 0; i < 500; i += 1) {
    metrics.modelCall({ ...call, model: `m${i}` });
    metrics.rollout('failed', 1, `code_${i}`);
  }
  const text = await textOf(metrics);
  const series = (start: string) => text.split('\n').filter((line) => line.startsWith(start)).length;
  expect(series('ratchet_model_calls_total{')).toBe(101);
  expect(series('ratchet_rollout_errors_total{')).toBe(101);
  expect(text).toContain('model="other",purpose="policy",outcome="ok"} 400');
  expect(text).toContain('ratchet_rollout_errors_total{code="other"} 400');
});

test('adds requests and rewards of deployments by name, of a bounded number of names and versions', async () => {
  const metrics = createMetrics();
  const used = { seconds: 0.1, promptTokens: 10, completionTokens: null, costUsd: 0.5 };
  const served = { organization: 'org', deployment: 'support', version: 3 };
  metrics.deploymentRequest({ ...served, ...used, outcome: 'ok', code: null });
  metrics.deploymentRequest({ ...served, ...used, outcome: 'error', code: 'upstream_timeout' });
  metrics.deploymentReward({ organization: 'org', deployment: 'support', reward: -1 });
  metrics.deploymentReward({ organization: 'org', deployment: 'support', reward: 0.25 });
  for (const score of [0.5, 1, null]) metrics.deploymentJudged({ organization: 'org', deployment: 'support', score });
  for (let i = 0; i < 1_000; i += 1)
    metrics.deploymentRequest({ ...served, ...used, deployment: `d${i}`, version: i, outcome: 'ok', code: null });
  const text = await textOf(metrics);
  const labels = 'organization="org",deployment="support"';
  expect(text).toContain(`ratchet_deployment_requests_total{${labels},version="3",outcome="ok"} 1`);
  expect(text).toContain(`ratchet_deployment_errors_total{${labels},code="upstream_timeout"} 1`);
  expect(text).toContain(`ratchet_deployment_request_duration_seconds_count{${labels}} 1`);
  expect(text).toContain(`ratchet_deployment_tokens_total{${labels},type="input"} 20`);
  expect(text).toContain(`ratchet_deployment_cost_usd_total{${labels}} 1`);
  expect(text).toContain(`ratchet_deployment_reward_sum{${labels}} -0.75`);
  expect(text).toContain(`ratchet_deployment_reward_count{${labels}} 2`);
  expect(text).toContain(`ratchet_deployment_judge_score_sum{${labels}} 1.5`);
  expect(text).toContain(`ratchet_deployment_judge_failures_total{${labels}} 1`);
  const series = (start: string) => text.split('\n').filter((line) => line.startsWith(start)).length;
  expect(series('ratchet_deployment_cost_usd_total{')).toBe(201);
  expect(series('ratchet_deployment_requests_total{')).toBeLessThanOrEqual(502);
});

test('scrapes share a sample, and processes that read the same values are no sum', async () => {
  const read = jest.fn(() =>
    Promise.resolve({
      openJobs: [{ kind: 'session', status: 'running', count: 3, progressAge: 60 }],
      stuckJobs: [{ cause: 'timed_out', count: 2 }],
      liveWorkers: 2,
      taskQueues: [{ type: 'activity', backlog: 2, ageSeconds: 7 }],
    }),
  );
  const [api, worker] = [createMetrics(), createMetrics()];
  for (const metrics of [api, worker]) metrics.sample(read);
  await textOf(api, worker);
  const text = await textOf(api, worker);
  expect(read).toHaveBeenCalledTimes(2);
  expect(text).toContain('ratchet_open_jobs{kind="session",status="running"} 3');
  expect(text).toContain('ratchet_progress_age_seconds{kind="session"} 60');
  expect(text).toContain('ratchet_stuck_jobs{cause="timed_out"} 2');
  expect(text).toContain('ratchet_task_queue_age_seconds{type="activity"} 7');
  expect(text).toContain('ratchet_sample_up 1');
});

test('a sample that cannot be read is absent, and the others are shown', async () => {
  const metrics = createMetrics();
  metrics.sample(() => Promise.reject(new Error('no database')));
  metrics.jobEnded('session', 'completed');
  const text = await textOf(metrics);
  expect(text).toContain('ratchet_sample_up 0');
  expect(text).not.toContain('ratchet_open_jobs{');
  expect(text).not.toMatch(/^ratchet_live_workers /m);
  expect(text).toContain('ratchet_jobs_ended_total{kind="session",status="completed"} 1');
});
