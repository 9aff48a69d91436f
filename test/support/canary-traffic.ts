/** Simulated traffic of a canary: what its decisions are for versions that differ as given. */
import {
  beginCanary,
  beginStep,
  lookAtCanary,
  type CanaryState,
  type Counts,
} from '../../src/core/deployments/canary/canary.js';
import { noCounts, type VersionCounts } from '../../src/core/deployments/canary/counts.js';
import { stepsOf, type CanaryPlan } from '../../src/core/deployments/canary/plan.js';
import type { MetricValue } from '../../src/core/deployments/canary/rewards.js';
import { addLatency } from '../../src/core/math/latency-sketch.js';
import { nextUint32, seedRng, type Rng } from '../../src/core/math/random.js';

function uniforms(seed: number): () => number {
  let rng: Rng = seedRng(seed);
  return () => {
    const [value, next] = nextUint32(rng);
    rng = next;
    return (value + 0.5) / 2 ** 32;
  };
}

export const plan: CanaryPlan = {
  steps: [1, 10, 50],
  shadow: null,
  holdMs: null,
  maxMs: Number.MAX_SAFE_INTEGER,
  minRequests: 20,
  metric: 'reward',
  guard: { errorRate: { maxIncrease: 0.05 }, p95Latency: { maxRatio: 1.5 }, cost: { maxRatio: 1.5 }, metrics: {} },
  requireApproval: false,
  stickyBy: null,
};

/** How a version answers. */
export interface Version {
  errors: number;
  /** Multiples of what is usual. */
  slow: number;
  dear: number;
  reward: (uniform: () => number) => number;
}

export const yes = (chance: number) => (uniform: () => number) => (uniform() < chance ? 1 : 0);
export const normal = (uniform: () => number) =>
  Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
export const usual: Version = { errors: 0.02, slow: 1, dear: 1, reward: yes(0.7) };

const copyOf = (counts: VersionCounts): VersionCounts => ({ ...counts, latencies: { ...counts.latencies } });

/** Plays requests, and looks after every tenth, until the canary is decided or `most` have come. */
function play(live: Version, canary: Version, most: number, uniform: () => number, over: Partial<CanaryPlan> = {}) {
  const used = { ...plan, ...over };
  const counts = { live: copyOf(noCounts), canary: copyOf(noCounts) };
  let state: CanaryState = beginCanary(0, { live: copyOf(noCounts), canary: copyOf(noCounts) });
  let values: MetricValue[] = [];
  for (let request = 1; request <= most; request += 1) {
    const isCanary = uniform() < stepsOf(used)[state.step]!.percent / 100;
    const [version, counted] = isCanary ? [canary, counts.canary] : [live, counts.live];
    counted.requests += 1;
    if (uniform() < version.errors) counted.errors += 1;
    else {
      addLatency(counted.latencies, version.slow * Math.exp(6 + 0.6 * normal(uniform)));
      const cost = version.dear * 0.001 * Math.exp(0.8 * normal(uniform));
      counted.priced += 1;
      counted.costUsd += cost;
      counted.costSquares += cost * cost;
      values.push({ isCanary, value: version.reward(uniform) });
    }
    if (request % 10 > 0) continue;
    const seen: Counts = { live: copyOf(counts.live), canary: copyOf(counts.canary) };
    const looked = lookAtCanary(used, state, { atMs: request, counts: seen, values }, true);
    values = [];
    state = looked.state;
    if (looked.decision.is === 'promote') return { is: 'promote', by: looked.decision.by, request };
    if (looked.decision.is === 'roll_back') return { is: 'roll_back', by: looked.decision.cause.by, request };
    if (looked.decision.is === 'step') state = beginStep(state, looked.decision.step, seen);
  }
  return { is: 'open', by: null, request: most };
}

export function shares(
  live: Version,
  canary: Version,
  { runs, most, over }: { runs: number; most: number; over?: Partial<CanaryPlan> },
) {
  const uniform = uniforms(7);
  const ends = Array.from({ length: runs }, () => play(live, canary, most, uniform, over));
  const share = (is: string, by?: string) =>
    ends.filter((end) => end.is === is && (by === undefined || end.by === by)).length / runs;
  const decided = ends.flatMap(({ is, request }) => (is === 'open' ? [] : [request])).toSorted((a, b) => a - b);
  const medianRequests = decided[Math.floor(decided.length / 2)] ?? null;
  return {
    promoted: share('promote'),
    rolledBack: share('roll_back'),
    byGuard: share('roll_back', 'guard'),
    /** Requests of both versions until the decision; null: none was decided. */
    medianRequests,
  };
}
