import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import { checkRoles, readConfig, type Config } from '../config.js';
import { firstFree } from '../../platform/embedded/ports.js';
import { createLog } from '../log.js';
import { handOver } from './early-stop.js';
import { stopMessage, type StartedApi } from './api.js';
import type { MetricValues } from '../metrics/values.js';
import { metricsOf } from '../metrics/asked.js';
import { mergeMetrics } from '../metrics/merge.js';
import type { ReadinessAnswer } from '../../platform/http/server/health.js';
import { readinessOf, serveHealth, type HealthSources } from '../health-port.js';

/** Longer than an API process takes to stop. */
const shutdownMs = 35_000;
const restartMs = 1_000;
/** Longer than the slowest check takes. */
const probeMs = 4_000;

/**
 * Runs `count` API processes on one port, each with its share of the connections to Postgres. The
 * first one migrates the database before the others start. A process that dies is replaced.
 */
export async function superviseApis(count: number, onReady: (api: StartedApi, config: Config) => void): Promise<void> {
  const config = readConfig();
  checkRoles(config, { serve: true, work: false });
  const log = createLog(config);
  // One port for all, and the metrics of all at the parent.
  const port = config.port === 0 ? await firstFree() : config.port;
  const env = { PORT: String(port), RATCHET_METRICS_PORT: '' };
  const fork = () => {
    const worker = cluster.fork(env);
    worker.once('message', () => listening.add(worker));
    return worker;
  };
  const supervision = supervise(fork, log);
  closeWithGrace({ delay: shutdownMs, logger: log }, async ({ err }) => {
    if (err) log.error({ err }, 'stopping after an error');
    await supervision.stop();
  });
  handOver();
  let api: StartedApi | null = null;
  if (config.metricsPort !== null) {
    const readiness = readinessOfApis(() => api, supervision.isStopping);
    await serveHealth({ metrics: gatherMetrics(), readiness }, { port: config.metricsPort, host: config.metricsHost });
  }
  const start = () => started(fork(), supervision.isStopping);
  const first = (api = await start());
  await Promise.all(Array.from({ length: count - 1 }, start));
  supervision.begin();
  onReady(first, config);
}

/** The processes that listen, to users and to the word of this one. */
const listening = new WeakSet<Worker>();

function supervise(fork: () => Worker, log: Logger) {
  const restarts = new Set<NodeJS.Timeout>();
  let isStopping = false;
  return {
    isStopping: () => isStopping,

    /** From now on a process that dies is replaced. */
    begin() {
      cluster.on('exit', ({ process: { pid } }, code, signal) => {
        if (isStopping) return;
        log.warn({ api: pid, code, signal }, 'an API process has exited unexpectedly; starting another');
        const timer = setTimeout(() => {
          restarts.delete(timer);
          fork();
        }, restartMs);
        restarts.add(timer);
      });
    },

    /** Lets the processes answer what they have begun; resolves when all have ended. */
    async stop() {
      isStopping = true;
      for (const timer of restarts) clearTimeout(timer);
      const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
      await Promise.all(workers.map(end));
    },
  };
}

/** Gathers the metrics of all API processes: sums, and averages of their loops. */
function gatherMetrics(): () => Promise<string> {
  const asks = new WeakMap<Worker, () => Promise<MetricValues>>();
  const askOf = (worker: Worker) => {
    const ask = asks.get(worker) ?? metricsOf(worker);
    asks.set(worker, ask);
    return ask;
  };
  // The cluster module drops what is sent before the process listens to it.
  const heard = () => Object.values(cluster.workers ?? {}).filter((worker) => worker && listening.has(worker));
  return () => mergeMetrics(heard().map((worker) => askOf(worker!)));
}

/** The readiness of one of the API processes: they need the same parts. */
function readinessOfApis(current: () => StartedApi | null, isStopping: () => boolean): HealthSources['readiness'] {
  const ofStart = readinessOf(() => null, isStopping);
  return async (query) => {
    const api = current();
    if (api === null || isStopping()) return ofStart(query);
    const url = new URL('/readyz', api.url);
    if (query.exclude) url.searchParams.set('exclude', query.exclude);
    const response = await fetch(url, { signal: AbortSignal.timeout(probeMs) });
    return (await response.json()) as ReadinessAnswer;
  };
}

/** Resolves when the process has ended. */
async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const gone = once(worker, 'exit');
  // One that is still starting has nothing to end. What cannot be told is ending.
  if (listening.has(worker)) worker.send(stopMessage, undefined, () => undefined);
  else worker.process.kill('SIGKILL');
  await gone;
}

/** Resolves when the process listens. If it ends before, so does this one: it has said why. */
function started(worker: Worker, isStopping: () => boolean): Promise<StartedApi> {
  return new Promise((resolve) => {
    const failed = (code: number | null) => {
      if (!isStopping()) process.exit(code ?? 1);
    };
    worker.once('exit', failed);
    worker.once('message', (api: StartedApi) => {
      worker.off('exit', failed);
      // Start no further process during the stop.
      if (!isStopping()) resolve(api);
    });
  });
}
