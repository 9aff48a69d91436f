import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { once } from 'node:events';
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client';
import { StartupError } from '../platform/embedded/errors.js';
import { limitedValues } from './metrics/labels.js';
import { shareSample } from './metrics/sample.js';

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

/** Values that a process reads where it is asked for its metrics. */
export interface Samples {
  openJobs: { kind: string; status: string; count: number }[];
  taskQueues: { type: string; backlog: number; ageSeconds: number }[];
}

/** Slots of a worker by type of task. */
export type WorkerSlots = { type: string; used: number; total: number }[];

/** Metrics of the service; every name begins with `ratchet_`. */
export interface Metrics {
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

export type MetricValues = MetricObjectWithValues<MetricValue<string>>[];

const seconds = [0.01, 0.05, 0.2, 1, 5, 20, 60, 300];
/** Users name models and containers report errors: a bound on the series of each metric. */
const maxModels = 100;
const maxErrors = 100;
const maxOrganizations = 100;

/** Creates metrics with their own registry. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (cluster.isWorker) giveMetrics(registry);
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
  const lag = histogram(
    'event_lag_seconds',
    'Time from an event to its delivery on a stream.',
    [],
    [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
  );
  const stored = new Gauge({
    name: 'ratchet_stored_bytes',
    registers,
    aggregator: 'max' as const,
    help: 'Bytes that an organization stores: data sets, requests and model calls; of the largest ones, hourly.',
    labelNames: ['organization'],
  });
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
    retry: (target) => retries.inc({ target }),
    proposal: (outcome) => proposals.inc({ outcome }),
    jobEnded: (kind, status) => ended.inc({ kind, status }),
    eventLag: (seconds) => lag.observe(Math.max(0, seconds)),
    storedBytes: (bytes) => {
      stored.reset();
      const largest = [...bytes].sort(([, a], [, b]) => b - a).slice(0, maxOrganizations);
      for (const [organization, size] of largest) stored.set({ organization }, size);
    },
    sample: (read) => addSampledGauges(registry, read),
    worker: (slots) => addWorkerGauges(registry, slots),
    values: () => registry.getMetricsAsJSON(),
  };
}

function outcomeOf(status: number | null): string {
  if (status === null || status >= 500) return 'failed';
  if (status === 429) return 'rate_limited';
  return status >= 300 ? 'refused' : 'ok';
}

/** Every process reads the same values, so several of them are no sum. */
function addSampledGauges(registry: Registry, read: () => Promise<Samples>): void {
  const gauge = (name: string, help: string, labelNames: string[]) =>
    new Gauge({
      name: `ratchet_${name}`,
      help,
      labelNames,
      registers: [registry],
      aggregator: 'max' as const,
      collect: () => refresh(),
    });
  const jobs = gauge('open_jobs', 'Jobs that have not ended.', ['kind', 'status']);
  const backlog = gauge('task_queue_backlog', 'Tasks in Temporal that wait for a worker.', ['type']);
  const age = gauge('task_queue_age_seconds', 'Age of the oldest task that waits for a worker.', ['type']);
  const up = gauge('sample_up', '1: the open jobs and task queues could be read; 0: they are absent.', []);
  const refresh = shareSample(async () => {
    const sample = await read().catch(() => null);
    for (const gauge of [jobs, backlog, age]) gauge.reset();
    up.set(sample ? 1 : 0);
    for (const { kind, status, count } of sample?.openJobs ?? []) jobs.set({ kind, status }, count);
    for (const queue of sample?.taskQueues ?? []) {
      backlog.set({ type: queue.type }, queue.backlog);
      age.set({ type: queue.type }, queue.ageSeconds);
    }
  });
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

/** The metrics of several processes as one, in Prometheus text format. */
export async function mergeMetrics(processes: readonly (() => Promise<MetricValues>)[]): Promise<string> {
  const values = await Promise.all(processes.map((valuesOf) => valuesOf()));
  return AggregatorRegistry.aggregate(values).metrics();
}

/** Gives the metrics of one of several API processes to `gatherMetrics` of the parent. */
function giveMetrics(registry: Registry): void {
  AggregatorRegistry.setRegistries([registry]);
  new AggregatorRegistry();
}

/** The metrics of all API processes below this one: sums, and averages of their loops. */
export async function gatherMetrics(): Promise<string> {
  gathering ??= new AggregatorRegistry();
  return gathering.clusterMetrics();
}

let gathering: AggregatorRegistry<'text/plain; version=0.0.4; charset=utf-8'> | undefined;

/** Serves the metrics at /metrics; resolves with a function that stops it. */
export async function serveMetrics(
  textOf: () => Promise<string>,
  { port, host }: { port: number; host: string },
): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    textOf().then(
      (text) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  server.listen(port, host);
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const setting =
      cause.code === 'EADDRINUSE' ? 'RATCHET_METRICS_PORT' : 'RATCHET_METRICS_HOST or RATCHET_METRICS_PORT';
    throw new StartupError(`The metrics cannot be served at ${host}:${port} (${cause.code}): change ${setting}.`, {
      cause,
    });
  });
  return async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
}
