import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { once } from 'node:events';
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Histogram,
  Registry,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client';

/** Metrics of the service; every name begins with `ratchet_`. */
export interface Metrics {
  /** Counts an answered HTTP request; `route` is the pattern, without ids. */
  request(method: string, route: string, status: number, seconds: number): void;
  /** Counts a rollout's outcome: succeeded, failed or awaiting_reward. */
  rollout(outcome: string, seconds: number): void;
  /** All values, to be sent to another process. */
  values(): Promise<MetricValues>;
}

export type MetricValues = MetricObjectWithValues<MetricValue<string>>[];

/** Creates metrics with their own registry. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  if (cluster.isWorker) giveMetrics(registry);
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'ratchet_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [registry],
  });
  const rollouts = new Counter({
    name: 'ratchet_rollouts_total',
    help: 'Outcomes of rollouts that this process ran.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const latency = new Histogram({
    name: 'ratchet_rollout_duration_seconds',
    help: 'Time from the first try at a rollout to its outcome.',
    buckets: [0.01, 0.05, 0.2, 1, 5, 20, 60, 300],
    registers: [registry],
  });
  return {
    request: (method, route, status, seconds) => requests.observe({ method, route, status: String(status) }, seconds),
    rollout: (outcome, seconds) => {
      rollouts.inc({ outcome });
      latency.observe(seconds);
    },
    values: () => registry.getMetricsAsJSON(),
  };
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

/** Serves the metrics at http://127.0.0.1:PORT/metrics; resolves with a function that stops it. */
export async function serveMetrics(textOf: () => Promise<string>, port: number): Promise<() => Promise<void>> {
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
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
}
