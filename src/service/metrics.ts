import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { deploymentMetrics, type DeploymentMetrics } from './metrics/deployments.js';
import { limitedValues } from './metrics/labels.js';
import { addSampledGauges, type Samples } from './metrics/sampled.js';
import { sdkMetrics } from './metrics/sdk.js';
import type { MetricValues } from './metrics/values.js';

/** A try of a model call; `status` null: no answer. Unknown tokens and costs are null. */
export interface MeasuredCall {
  provider: string;
  model: string;
  purpose: string;
  status: number | null;
  seconds: number;
  promptTokens: number | null;
  completionTokens: number | null;
  costUsd: number | null;
}

/** Slots of a worker by type of task. */
export type WorkerSlots = { type: string; used: number; total: number }[];

/** Metrics of the service; every name of ours begins with `ratchet_`. */
export interface Metrics extends DeploymentMetrics {
  /** Counts an answered HTTP request; `route` is the pattern, without ids. */
  request(method: string, route: string, status: number, seconds: number): void;
  /** Counts an outcome: succeeded, failed or awaiting_reward; `error`: the code of a failure. */
  rollout(outcome: string, seconds: number, error?: string): void;
  modelCall(call: MeasuredCall): void;
  /** Counts a try that follows a failed one; `target`: a provider, or `container`. */
  retry(target: string): void;
  /** Counts a proposal of a search, by its outcome. */
  proposal(outcome: string): void;
  jobEnded(kind: string, status: string): void;
  /** Counts a job whose workflow tasks begin to fail. */
  workflowTaskFailure(cause: string): void;
  /** Counts a part of an activity's work that stood still. */
  stoodStill(work: string): void;
  /** Time from an event to its delivery on a stream. */
  eventLag(seconds: number): void;
  /** Adds gauges of `read`, which runs at most every few seconds, and only for a scrape. */
  sample(read: () => Promise<Samples>): void;
  /** Bytes that each organization stores; only the largest are shown. */
  storedBytes(bytes: ReadonlyMap<string, number>): void;
  /** Adds gauges of the worker in this process. */
  worker(slots: () => WorkerSlots): void;
  /** All values, to be sent to another process. */
  values(): Promise<MetricValues>;
}

const seconds = [0.01, 0.05, 0.2, 1, 5, 20, 60, 300];
/** Users name models and containers report errors: a bound on the series of each metric. */
const maxModels = 100;
const maxErrors = 100;
const maxOrganizations = 100;

/** Creates metrics with their own registry. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `ratchet_${name}`, help, labelNames, registers });
  const histogram = (name: string, help: string, labelNames: string[], buckets = seconds) =>
    new Histogram({ name: `ratchet_${name}`, help, labelNames, buckets, registers });

  const requests = histogram(
    'http_request_duration_seconds',
    'Time from a request to the end of its answer.',
    ['method', 'route', 'status'],
    [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
  );
  const rollouts = counter('rollouts_total', 'Outcomes of rollouts that this process ran.', ['outcome']);
  const rolloutTime = histogram('rollout_duration_seconds', 'Time from the first try at a rollout to its outcome.', []);
  const failures = counter('rollout_errors_total', 'Failed rollouts by error code.', ['code']);
  const calls = counter('model_calls_total', 'Tries of model calls.', ['provider', 'model', 'purpose', 'outcome']);
  const callTime = histogram('model_call_duration_seconds', 'Time of one try of a model call.', ['provider']);
  const tokens = counter('model_tokens_total', 'Tokens of model calls, where they are known.', [
    'provider',
    'model',
    'type',
  ]);
  const cost = counter('model_cost_usd_total', 'Cost of model calls in dollars, where it is known.', [
    'provider',
    'model',
  ]);
  const withoutCost = counter('model_calls_unknown_cost_total', 'Model calls of unknown cost.', ['provider', 'model']);
  const retries = counter('retries_total', 'Tries that follow a failed one.', ['target']);
  const proposals = counter('proposals_total', 'Proposals of searches.', ['outcome']);
  const ended = counter('jobs_ended_total', 'Jobs that this process closed.', ['kind', 'status']);
  const stuck = counter('workflow_task_failures_total', 'Jobs whose workflow tasks began to fail.', ['cause']);
  const still = counter('work_stood_still_total', 'Parts of work that stood still while heartbeats went on.', ['work']);
  // An increase begins at a value.
  for (const work of ['rollout', 'proposals', 'demonstrations', 'line']) still.inc({ work }, 0);
  const lag = histogram(
    'event_lag_seconds',
    'Time from an event to its delivery on a stream.',
    [],
    [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
  );
  const models = limitedValues(maxModels);
  const codes = limitedValues(maxErrors);
  return {
    request: (method, route, status, seconds) => requests.observe({ method, route, status: String(status) }, seconds),
    rollout: (outcome, seconds, error) => {
      rollouts.inc({ outcome });
      rolloutTime.observe(seconds);
      if (error !== undefined) failures.inc({ code: codes(error) });
    },
    modelCall: ({ provider, purpose, status, ...call }) => {
      const series = { provider, model: models(call.model) };
      calls.inc({ ...series, purpose, outcome: outcomeOf(status) });
      callTime.observe({ provider }, call.seconds);
      if (call.promptTokens) tokens.inc({ ...series, type: 'input' }, call.promptTokens);
      if (call.completionTokens) tokens.inc({ ...series, type: 'output' }, call.completionTokens);
      if (call.costUsd === null) withoutCost.inc(series);
      else cost.inc(series, call.costUsd);
    },
    ...deploymentMetrics(registry),
    retry: (target) => retries.inc({ target }),
    proposal: (outcome) => proposals.inc({ outcome }),
    jobEnded: (kind, status) => ended.inc({ kind, status }),
    workflowTaskFailure: (cause) => stuck.inc({ cause }),
    stoodStill: (work) => still.inc({ work }),
    eventLag: (seconds) => lag.observe(Math.max(0, seconds)),
    storedBytes: storedBytesGauge(registry),
    sample: (read) => addSampledGauges(registry, read),
    worker: (slots) => addWorkerGauges(registry, slots),
    values: async () => (await Promise.all([registry.getMetricsAsJSON(), sdkMetrics()])).flat(),
  };
}

function outcomeOf(status: number | null): string {
  if (status === null || status >= 500) return 'failed';
  if (status === 429) return 'rate_limited';
  return status >= 300 ? 'refused' : 'ok';
}

function storedBytesGauge(registry: Registry): Metrics['storedBytes'] {
  const stored = new Gauge({
    name: 'ratchet_stored_bytes',
    registers: [registry],
    aggregator: 'max' as const,
    help: 'Bytes that an organization stores: data sets, requests and model calls; of the largest ones, hourly.',
    labelNames: ['organization'],
  });
  return (bytes) => {
    stored.reset();
    const largest = [...bytes].sort(([, a], [, b]) => b - a).slice(0, maxOrganizations);
    for (const [organization, size] of largest) stored.set({ organization }, size);
  };
}

function addWorkerGauges(registry: Registry, slots: () => WorkerSlots): void {
  new Gauge({
    name: 'ratchet_worker_slots',
    help: 'Slots of the workers for tasks, in use and in total.',
    labelNames: ['type', 'state'],
    registers: [registry],
    collect() {
      for (const { type, used, total } of slots()) {
        this.set({ type, state: 'used' }, used);
        this.set({ type, state: 'total' }, total);
      }
    },
  });
}
