import type { z } from 'zod';
import type { deploymentStatsSchema } from '../contract/stats.js';
import { quantile, relativeError } from '../../../core/math/latency-sketch.js';
import { meanInterval } from '../../../core/math/mean-interval.js';
import type { Sample } from '../../../core/math/statistics.js';
import type { RequestTotals } from '../store/counters.js';
import { isoOrNull } from '../../../jobs/routes/view.js';

/** A deployment's statistics. `since`: when it went live; null: it has not. */
export function statsView(
  deploymentId: string,
  { totals, metrics, since }: { totals: RequestTotals; metrics: Record<string, Sample>; since: Date | null },
): z.output<typeof deploymentStatsSchema> {
  const { requests, errors, aborted, promptTokens, completionTokens, costUsd, withoutCost, latencies } = totals;
  // A refused request costs 0, which says nothing about those whose cost is unknown.
  const answered = requests - errors - aborted;
  // An answer has a prompt, and that has tokens.
  const isCounted = answered === 0 || promptTokens > 0;
  return {
    deployment_id: deploymentId,
    since: isoOrNull(since),
    requests,
    errors,
    aborted,
    latency_ms: {
      p50: quantile(latencies, 0.5),
      p90: quantile(latencies, 0.9),
      p95: quantile(latencies, 0.95),
      p99: quantile(latencies, 0.99),
      max: quantile(latencies, 1),
      relative_error: relativeError,
    },
    usage: {
      ...(isCounted
        ? {
            prompt_tokens: promptTokens,
            completion_tokens: completionTokens,
            total_tokens: promptTokens + completionTokens,
          }
        : { prompt_tokens: null, completion_tokens: null, total_tokens: null }),
      total_cost_usd: costUsd > 0 || (answered > 0 && withoutCost === 0) ? costUsd : null,
      requests_without_cost: withoutCost,
    },
    metrics: Object.fromEntries(
      Object.entries(metrics).map(([name, sample]) => {
        const { mean, low, high } = meanInterval(sample);
        return [name, { count: sample.count, mean, interval: { low, high } }];
      }),
    ),
  };
}
