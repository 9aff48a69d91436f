import type { WorkflowBundlePath } from '@temporalio/worker';
import type { Logger } from 'pino';
import { checkRoles, exposureWarnings, setGrpcProxy, setTraceHeaders, type Config, type Roles } from './config.js';
import { createLoginTokens } from '../platform/http/dashboard/login-tokens.js';
import { keysOf } from './keys.js';
import { createMetrics, type Metrics } from './metrics.js';
import type { MetricValues } from './metrics/values.js';
import { mergeMetrics } from './metrics/merge.js';
import { readinessOf, serveHealth } from './health-port.js';
import { startServers, type Servers } from './servers.js';
import { chooseAddress } from './address.js';
import { startApi } from './api.js';
import { connectServers } from './connections.js';
import { Lifetime, StoppedError } from './lifetime.js';
import { prepareModels } from './models.js';
import type { Basis, Shared, Start } from './parts.js';
import { startWorkerHere } from './worker-here.js';
import { countOpenJobs } from '../jobs/store/open-jobs.js';
import { countStuckJobs } from '../jobs/store/stuck.js';
import { readLiveWorkers } from '../platform/temporal/worker-reports.js';
import { readTaskQueues } from '../platform/temporal/task-queues.js';
import type { Readiness } from '../platform/temporal/readiness.js';
import { WorkerProcess } from './worker-process.js';

export interface Service {
  url: string | null;
  /** The first API key; null: this process has no API. */
  apiKey: string | null;
  /** A link that signs one browser in to the dashboard. */
  loginUrl: string | null;
  /** The same for a page of it, such as `/sessions/ses_x`. */
  loginUrlOf(page: string): string | null;
  /** Whether the key is new: show it once. */
  apiKeyCreated: boolean;
  temporalUi: string | null;
  /** The metrics of this process. */
  metrics(): Promise<MetricValues>;
  /** Rejects when a part of the service stops unexpectedly. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

/** Differences from one process that starts everything. */
export interface ServiceOptions {
  /** The workflow bundle; default: that of the build. */
  bundle?: WorkflowBundlePath;
  /** Whether the worker runs in a process of its own: API calls wait for none of its work. */
  separateWorker?: boolean;
  /** Servers that run already, with a migrated database. */
  servers?: Servers;
  /** An abort stops the started parts and rejects the start with a StoppedError. */
  signal?: AbortSignal;
}

/** Starts Postgres, Temporal, then the roles; a failure stops what is running. */
export async function startService(
  config: Config,
  roles: Roles,
  log: Logger,
  options: ServiceOptions = {},
): Promise<Service> {
  const life = new Lifetime(log);
  const starting = start({ config, roles, log, life }, options);
  try {
    return await (options.signal ? Promise.race([starting, stopped(options.signal)]) : starting);
  } catch (error) {
    // Report why the start failed, not what failed during the clean-up.
    await life.stop().catch((err: Error) => log.error({ err }, 'a part of the service did not stop as it should'));
    throw error;
  }
}

/** Rejects at the signal: a start may wait for servers that do not answer. */
function stopped(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => reject(new StoppedError('The service stopped while it started.'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** Starts the parts in this order; they stop in the reverse one. */
async function start(given: Start, options: ServiceOptions): Promise<Service> {
  const { config, roles, log, life } = given;
  const { bundle, separateWorker = false, servers: running } = options;
  if (!running) checkRoles(config, roles);
  warnOfSettings(given);
  if (config.ownTemporal) setGrpcProxy(config);
  if (config.tracing) setTraceHeaders(config);
  // Its code loads while the servers start.
  const worker = roles.work && separateWorker ? new WorkerProcess() : null;
  if (worker) life.onStop(() => worker.abandon());
  const { secretKey, apiKey } = keysOf(config, roles);
  const metrics = createMetrics();
  let readiness: Readiness | null = null;
  // From now on the process lives, and is not ready before it has started.
  if (config.metricsPort !== null) {
    const sources = worker ? [metrics.values, () => worker.metrics()] : [metrics.values];
    const health = {
      metrics: () => mergeMetrics(sources),
      readiness: readinessOf(
        () => readiness,
        () => life.isStopping,
      ),
    };
    life.onStop(await serveHealth(health, { port: config.metricsPort, host: config.metricsHost }));
  }

  const servers = running ?? (await startOwnServers(given, secretKey));
  const basis: Basis = { ...given, secretKey, apiKey, servers };
  const connections = await connectServers(basis);
  const address = await chooseAddress(config, roles);
  life.onStop(address.release);
  const { publicUrl } = address;
  sampleQueues(metrics, connections);
  const models = await prepareModels({ ...basis, ...connections, metrics });
  const shared: Shared = { ...basis, ...connections, ...models, metrics, publicUrl };
  // Several processes would not know each other's tokens; an API alone is not where its user is.
  const loginTokens = apiKey && roles.work ? createLoginTokens(apiKey.value) : null;

  // Start the API first and stop it last: rollouts in flight call their model through it.
  const api = roles.serve ? await startApi(shared, { address, loginTokens, worker }) : null;
  const url = api?.url ?? null;
  if (worker) {
    const isMeasured = config.metricsPort !== null;
    const settings = { config: { ...config, secretKey, publicUrl, metricsPort: null }, servers, isMeasured };
    await worker.start(settings, log, life.fail);
    life.onStop(() => worker.stop());
  }
  const ownWorker = roles.work && !worker ? await startWorkerHere(shared, bundle) : null;
  readiness = api?.readiness ?? ownWorker;

  const loginUrlOf = (page: string) => url && loginTokens && `${url}/#login=${loginTokens.issue()}${page}`;
  return {
    metrics: metrics.values,
    url,
    apiKey: apiKey?.value ?? null,
    apiKeyCreated: apiKey?.created ?? false,
    loginUrl: loginUrlOf(''),
    loginUrlOf,
    temporalUi: servers.temporalUi,
    ended: life.ended,
    stop: () => life.stop(),
  };
}

function warnOfSettings({ config, roles, log }: Start): void {
  if (roles.serve) for (const warning of exposureWarnings(config)) log.warn(warning);
  for (const note of config.notes) log.warn(note);
}

/** Starts the servers that the settings do not name. */
async function startOwnServers({ config, log, life }: Start, secretKey: Buffer): Promise<Servers> {
  const starting = startServers(config, secretKey, log, life.fail);
  // An embedded server that still starts would be left running. A failed start leaves none.
  const isEmbedded = !config.databaseUrl || !config.ownTemporal;
  if (isEmbedded)
    life.onStop(() =>
      starting.then(
        ({ stop }) => stop(),
        () => undefined,
      ),
    );
  return (await starting).servers;
}

function sampleQueues(metrics: Metrics, { db, temporal }: Pick<Shared, 'db' | 'temporal'>): void {
  metrics.sample(async () => {
    const [ofDatabase, taskQueues] = await Promise.all([
      db.worker(async (tx) => ({
        openJobs: await countOpenJobs(tx),
        stuckJobs: await countStuckJobs(tx),
        liveWorkers: (await readLiveWorkers(tx)).length,
      })),
      readTaskQueues(temporal),
    ]);
    return { ...ofDatabase, taskQueues };
  });
}
