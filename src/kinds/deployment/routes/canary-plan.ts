/** The plan of a rollout as a request gives it. */
import type { CanaryPlan } from '../../../core/deployments/canary/plan.js';
import { durationMs } from '../../../util/duration.js';
import type { CanaryRequest } from '../contract/canary.js';

const defaultErrorRate = { max_increase: 0.05 };

export function canaryPlan({ steps, shadow = null, hold, guard, ...request }: CanaryRequest): CanaryPlan {
  const { error_rate: errorRate = defaultErrorRate, p95_latency: latency, cost, metrics } = guard ?? {};
  return {
    steps: steps.filter((percent) => percent < 100),
    shadow,
    holdMs: hold === undefined ? null : durationMs(hold),
    maxMs: durationMs(request.max_duration),
    minRequests: request.min_requests,
    metric: request.metric,
    guard: {
      errorRate: errorRate && { maxIncrease: errorRate.max_increase },
      p95Latency: latency ? { maxRatio: latency.max_ratio } : null,
      cost: cost ? { maxRatio: cost.max_ratio } : null,
      metrics: Object.fromEntries(
        Object.entries(metrics ?? {}).map(([name, { max_decrease: decrease, max_increase: increase }]) => [
          name,
          { maxDecrease: decrease ?? null, maxIncrease: increase ?? null },
        ]),
      ),
    },
    requireApproval: request.require_approval,
    stickyBy: request.sticky_by ?? null,
  };
}
