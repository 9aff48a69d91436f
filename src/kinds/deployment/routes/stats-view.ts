import type { z } from 'zod';
import type { deploymentStatsSchema } from '../contract/stats.js';
import { quantiles, relativeError } from '../../../core/math/latency-sketch.js';
import { meanInterval } from '../../../core/math/mean-interval.js';
import type { Sample } from '../../../core/math/statistics.js';
import type { ScoredLabels } from '../../../core/verify/agreement.js';
import { agreementView } from '../../../jobs/routes/agreement.js';
import type { JudgeState } from '../store/judges.js';
import type { RequestTotals } from '../store/counters.js';

type Stats = z.output<typeof deploymentStatsSchema>;
type Counts = Omit<Stats, 'deployment_id' | 'since' | 'judge'>;

/** Statistics of requests and of the metrics that feedback reports. */
export function countsView(totals: RequestTotals, metrics: Record<string, Sample>): Counts {
  const { requests, errors, aborted, promptTokens, completionTokens, costUsd, withoutCost, latencies } = totals;
  // A refused request costs 0, which says nothing about those whose cost is unknown.
  const answered = requests - errors - aborted;
  // An answer has a prompt, and that has tokens.
  const isCounted = answered === 0 || promptTokens > 0;
  const [p50 = null, p90 = null, p95 = null, p99 = null, max = null] = quantiles(latencies, [0.5, 0.9, 0.95, 0.99, 1]);
  return {
    requests,
    errors,
    errors_by_code: totals.errorCodes,
    models: totals.models,
    aborted,
    latency_ms: {
      p50,
      p90,
      p95,
      p99,
      max,
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

/** What the judge of a name has done; null: no judge. `reviewed`: its scores of those answers. */
export function judgedView(state: JudgeState | null, reviewed: readonly ScoredLabels[]): Stats['judge'] {
  if (!state) return null;
  const { judged, failed, dropped, waiting, lastFailure, spentUsd, isUsedUp } = state;
  const counts = { judged, failed, dropped, waiting };
  const agreement = agreementView('reviews', reviewed);
  const spend = { spend_today_usd: spentUsd, budget_used_up: isUsedUp };
  return { ...counts, last_failure: lastFailure, ...spend, ...(agreement && { agreement }) };
}
