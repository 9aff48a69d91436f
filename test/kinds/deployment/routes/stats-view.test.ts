import { describe, expect, test } from '@jest/globals';
import { deploymentStatsSchema } from '../../../../src/kinds/deployment/contract/stats.js';
import { bucketOf } from '../../../../src/core/math/latency-sketch.js';
import { countsView } from '../../../../src/kinds/deployment/routes/stats-view.js';
import { maxCounted } from '../../../../src/kinds/deployment/store/counters.js';
import { counterOf } from '../../../support/counters.js';

const view = (totals: Parameters<typeof counterOf>[0]) => {
  const head = { deployment_id: 'dep_1', since: null, judge: null };
  return deploymentStatsSchema.parse({ ...head, ...countsView(counterOf(totals), {}) });
};

describe('the statistics of a deployment', () => {
  test('tell no tokens where none of an answer is known', () => {
    const unknown = { prompt_tokens: null, completion_tokens: null, total_tokens: null };
    expect(view({ requests: 2, withoutCost: 2 }).usage).toMatchObject(unknown);
    expect(view({ requests: 2, errors: 2 }).usage).toMatchObject({ total_tokens: 0 });
  });

  test('summarize the requests', () => {
    const latencies = { [bucketOf(10)]: 90, [bucketOf(100)]: 5, [bucketOf(1_000)]: 4, [bucketOf(10_000)]: 1 };
    const { latency_ms: latency, ...rest } = view({
      requests: 103,
      errors: 2,
      aborted: 1,
      promptTokens: 30,
      completionTokens: 4,
      costUsd: 0.5,
      withoutCost: 3,
      latencies,
      errorCodes: { upstream_error: 2 },
      models: { 'openai/gpt-4o': { tries: 104, failed: 3 } },
    });
    expect(rest).toEqual({
      deployment_id: 'dep_1',
      since: null,
      judge: null,
      requests: 103,
      errors: 2,
      errors_by_code: { upstream_error: 2 },
      models: { 'openai/gpt-4o': { tries: 104, failed: 3 } },
      aborted: 1,
      usage: {
        prompt_tokens: 30,
        completion_tokens: 4,
        total_tokens: 34,
        total_cost_usd: 0.5,
        requests_without_cost: 3,
      },
      metrics: {},
    });
    const { relative_error: error, ...quantiles } = latency;
    expect(error).toBe(0.01);
    const exact = { p50: 10, p90: 10, p95: 100, p99: 1_000, max: 10_000 };
    for (const [name, ms] of Object.entries(exact))
      expect(Math.abs(quantiles[name as keyof typeof exact]! / ms - 1)).toBeLessThanOrEqual(error);
  });

  test.each([
    ['no request is made', {}],
    ['no cost is known', { requests: 2, errors: 2, withoutCost: 2 }],
    ['all requests are refused', { requests: 2, errors: 2 }],
    ['the cost of no answered request is known', { requests: 9, errors: 2, aborted: 1, withoutCost: 7 }],
  ])('have no cost where %s, and no latency without an answered request', (_, totals) => {
    const { latency_ms: latency, usage } = view(totals);
    expect(usage.total_cost_usd).toBeNull();
    expect(latency).toEqual({ p50: null, p90: null, p95: null, p99: null, max: null, relative_error: 0.01 });
  });

  test('have a cost of 0 for free calls, and an integer for the most tokens', () => {
    const { usage } = view({ requests: 1, promptTokens: maxCounted, completionTokens: maxCounted });
    expect(usage).toMatchObject({ total_cost_usd: 0, total_tokens: 2 * maxCounted });
  });
});
