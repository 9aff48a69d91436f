/** How traffic moves from the live version of a name to a new one. */

/** Bounds beyond which the new version is rolled back; null: no such guard. */
export interface GuardPlan {
  /** Of the share of failed requests, above that of the live version. */
  errorRate: { maxIncrease: number } | null;
  /** Of the 95th percentile of latency, as a multiple of the live version's. */
  p95Latency: { maxRatio: number } | null;
  /** Of the mean known cost of a request, as a multiple of the live version's. */
  cost: { maxRatio: number } | null;
  /** Of the mean of a metric, against that of the live version. */
  metrics: Record<string, { maxDecrease: number | null; maxIncrease: number | null }>;
}

export interface CanaryPlan {
  /** Percent of the requests that the new version answers, ascending; below 100. */
  steps: readonly number[];
  /** Percent of the requests that are asked of both, before the steps; null: none. */
  shadow: number | null;
  /** How long each step lasts; null: until the metric decides. */
  holdMs: number | null;
  /** Undecided after this time: rolled back. */
  maxMs: number;
  /** Requests that the new version answers in a step before the next one. */
  minRequests: number;
  /** The metric that decides, the greater the better. */
  metric: string;
  guard: GuardPlan;
  /** Whether a person promotes. */
  requireApproval: boolean;
  /** What keeps its version: `user`, `correlation_id`, or a header; null: see `splitKey`. */
  stickyBy: string | null;
}

/** Steps of a plan with the shadow, which is the first. */
export const stepsOf = ({ steps, shadow }: Pick<CanaryPlan, 'steps' | 'shadow'>) => [
  ...(shadow === null ? [] : [{ percent: shadow, isShadow: true }]),
  ...steps.map((percent) => ({ percent, isShadow: false })),
];

/**
 * The greatest chances to promote, and to roll back, a version that is like the live one; the
 * metric and the guards share the second.
 */
export const falseDecisions = { promote: 0.02, rollBackByMetric: 0.01, rollBackByGuards: 0.01 } as const;
