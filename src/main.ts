import { setMaxListeners } from 'node:events';
import type { WorkflowBundlePath } from '@temporalio/worker';
import type { Logger } from 'pino';
import { createContainerClient } from './clients/container/client.js';
import { createWebhookClient } from './clients/webhooks/client.js';
import { allowsJavascript, createScorerClient, javascriptRefused } from './clients/scorers/client.js';
import { javascriptProblem } from './clients/scorers/javascript.js';
import { checkContainerUrl, checkWebhookUrl } from './clients/net/egress.js';
import { hideKeys } from './clients/net/untrusted.js';
import { verifyInferenceKey } from './clients/container/inference-key.js';
import { checkModel } from './clients/models/model-check.js';
import { createProviders } from './clients/models/providers.js';
import { checkRoles, exposureWarnings, setGrpcProxy, type Config, type Roles } from './config.js';
import { firstFree } from './embedded/ports.js';
import { end } from './embedded/process.js';
import { buildApp } from './http/app.js';
import { createLoginTokens } from './http/dashboard/login-tokens.js';
import { registerDeploymentInference } from './http/inference/deployment.js';
import { createBytesInFlight } from './http/inference/bytes-in-flight.js';
import { registerProxy } from './http/inference/proxy.js';
import { createMetrics, mergeMetrics, serveMetrics, type MetricValues } from './metrics.js';
import { connect } from './storage/db/db.js';
import { ensureBootstrapKey } from './storage/access/keys.js';
import { createProviderKeys } from './storage/access/provider-keys.js';
import { createSpendCheck } from './storage/access/spend-quota.js';
import { operatorOrg } from './storage/access/orgs.js';
import { listen } from './storage/db/notifications.js';
import { countOpenJobs } from './storage/jobs/open-jobs.js';
import { checkDatabase } from './storage/db/start-check.js';
import { keysOf } from './keys.js';
import { startServers, type Servers } from './servers.js';
import { stopAll } from './stop-all.js';
import { createCommander } from './temporal/commands.js';
import { payloadCodec } from './temporal/codec.js';
import { connectClient } from './temporal/connection.js';
import { createReadiness } from './temporal/readiness.js';
import { registerSearchAttributes } from './temporal/search-attributes.js';
import { startWorkflow } from './temporal/starter.js';
import { readTaskQueues } from './temporal/task-queues.js';
import type { TracingOptions } from './tracing/otel.js';
import { startSendingJobs } from './tracing/send-jobs.js';
import type { Tracing } from './tracing/tracing.js';
import { version } from './version.js';
import { loadWorker, startWorkerProcess, type WorkerProcess } from './worker-process.js';
import { startWorker } from './worker.js';

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

/** Postgres connections of each role; several API processes share them. */
const connections = 20;
const fewest = 4;

/** Differences from one process that starts everything. */
export interface ServiceOptions {
  /** The workflow bundle; default: that of the build. */
  bundle?: WorkflowBundlePath;
  /** Whether the worker runs in a process of its own: API calls wait for none of its work. */
  separateWorker?: boolean;
  /** Servers that run already, with a migrated database. */
  servers?: Servers;
}

/** Starts Postgres, Temporal, then the roles; a failure stops what is running. */
export async function startService(
  config: Config,
  roles: Roles,
  log: Logger,
  { bundle, separateWorker = false, servers: given }: ServiceOptions = {},
): Promise<Service> {
  const poolSize = Math.max(fewest, Math.ceil(connections / (roles.processes ?? 1)));
  const stops: (() => Promise<void> | void)[] = [];
  const stop = () => stopAll(stops.splice(0).reverse(), log);
  let fail!: (error: Error) => void;
  const ended = new Promise<void>((_, reject) => (fail = reject));
  ended.catch((err: Error) => log.error({ err }, 'a part of the service has stopped'));

  try {
    if (!given) checkRoles(config, roles);
    if (roles.serve) for (const warning of exposureWarnings(config)) log.warn(warning);
    for (const problem of config.proxyProblems) log.warn(problem);
    if (config.ownTemporal) setGrpcProxy(config);
    // Its code loads while the servers start.
    const loading = roles.work && separateWorker ? loadWorker() : null;
    if (loading) stops.push(() => end(loading.mark, ['SIGKILL']));
    const { secretKey, apiKey } = keysOf(config, roles);

    let servers = given;
    if (!servers) {
      const started = await startServers(config, secretKey, log, fail);
      stops.push(() => started.stop());
      ({ servers } = started);
    }
    const { databaseUrl, temporalUi } = servers;
    const db = connect(databaseUrl, log, poolSize);
    stops.push(() => db.close());
    await checkDatabase(db, secretKey);
    if (apiKey) await ensureBootstrapKey(db, secretKey, operatorOrg, apiKey.value);
    const notifications = listen(databaseUrl, log);
    stops.push(() => notifications.close());
    const client = await connectClient(servers.temporal, config.codecKey, roles.work);
    stops.push(() => client.connection.close());
    const registered = registerSearchAttributes(client, log);
    // An API alone does not wait for Temporal: reads work without it; /readyz reports it as
    // missing.
    if (roles.work) await registered;
    else
      registered.catch((err: Error) => log.warn({ err }, 'search attributes are left to the next worker that starts'));

    // Several processes, and those who call a server by name, rely on its port.
    const takesFree = roles.serve && roles.work && !config.isPortFixed;
    const port = config.port === 0 ? await firstFree() : takesFree ? await firstFree(config.port) : config.port;
    const publicUrl =
      config.publicUrl ?? `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
    // Several processes would not know each other's tokens; an API alone is not where its user is.
    const loginTokens = apiKey && roles.work ? createLoginTokens(apiKey.value) : null;
    const metrics = createMetrics();
    const tracing = config.tracing ? await loadTracing(config.tracing, log, (name) => providers.addressOf(name)) : null;
    stops.push(() => tracing?.stop());
    const providers = createProviders(config.env, {
      allowLocal: config.allowLocalProvider,
      readOwnKey: createProviderKeys(db, secretKey),
      checkSpend: createSpendCheck(db, (err) => log.warn({ err }, 'the spend of the day is not read yet; retrying')),
      observer: metrics,
      maxAnswerBytes: config.maxAnswerBytes,
    });
    metrics.sample(async () => {
      const [openJobs, taskQueues] = await Promise.all([db.worker(countOpenJobs), readTaskQueues(client)]);
      return { openJobs, taskQueues };
    });
    const measured = [metrics.values];

    // Start the API first and stop it last: rollouts in flight call their model through it.
    let url: string | null = null;
    let ownWorker: WorkerProcess | null = null;
    if (roles.serve) {
      const shutdown = new AbortController();
      // One listener per open stream.
      setMaxListeners(0, shutdown.signal);
      // With a worker here, requests must not queue behind rollouts for a connection.
      const httpDb = roles.work && !loading ? connect(databaseUrl, log, poolSize) : db;
      if (httpDb !== db) stops.push(() => httpDb.close());
      const app = await buildApp({
        db: httpDb,
        notifications,
        log,
        commander: createCommander(client, async ({ orgId, jobId, kind }) => {
          await startWorkflow(client, httpDb, { orgId, jobId, kind });
        }),
        secretKey,
        publicUrl,
        listenHost: config.host,
        version,
        loginTokens,
        temporalUrl: (workflowId) =>
          temporalUi && `${temporalUi}/namespaces/${client.options.namespace}/workflows/${workflowId}`,
        codec: config.codecKey && {
          codec: payloadCodec(config.codecKey),
          namespace: client.options.namespace,
          uiOrigin: temporalUi && new URL(temporalUi).origin,
        },
        checkContainerUrl: (containerUrl) =>
          checkContainerUrl(containerUrl, config.egress.mode, config.egress.allowlist),
        checkWebhookUrl: (webhookUrl) => checkWebhookUrl(webhookUrl, config.egress.mode, config.egress.allowlist),
        checkJavascript: (code, orgId) =>
          allowsJavascript(config.javascriptOrgs, orgId) ? javascriptProblem(code) : javascriptRefused,
        checkProvider: (name, own) => providers.check(name, own),
        listProviders: (own) => providers.list(own),
        checkModel: (payer, asked, signal) => checkModel(providers.forPayer(payer), asked, signal),
        readiness: createReadiness(httpDb, client, () => ownWorker?.endsInMinute() ?? 0),
        verifyInferenceKey: (presented, job) => verifyInferenceKey(secretKey, presented, job),
        registerInference: (inferring) => {
          const bytes = createBytesInFlight(config.maxBytesInFlight);
          const inference = { db: httpDb, notifications, providers, tracing, log, bytes };
          registerProxy(inferring, { ...inference, secretKey });
          registerDeploymentInference(inferring, inference);
        },
        tracing,
        observe: metrics.request,
        observeEventLag: metrics.eventLag,
        shutdown: shutdown.signal,
      });
      stops.push(async () => {
        shutdown.abort();
        await app.close();
      });
      url = await app.listen({ port, host: config.host });
    }

    if (loading) {
      const known = { ...config, secretKey, publicUrl, metricsPort: null };
      const worker = (ownWorker = await startWorkerProcess(loading, { config: known, servers }, log, fail));
      stops.push(() => worker.stop());
      measured.push(() => worker.metrics());
    } else if (roles.work) {
      const container = createContainerClient({ egress: config.egress });
      stops.push(() => container.close());
      const scorers = createScorerClient({ egress: config.egress, javascriptOrgs: config.javascriptOrgs });
      stops.push(() => scorers.close());
      const webhooks = createWebhookClient({ egress: config.egress });
      stops.push(() => webhooks.close());
      const clients = { container, scorers, webhooks, providers, temporal: client };
      const deps = { db, notifications, ...clients, secretKey, publicUrl, metrics, tracing, log };
      const worker = await startWorker({
        target: servers.temporal,
        codecKey: config.codecKey,
        buildId: config.workerBuildId,
        retention: { keep: config.keepDays, onSizes: metrics.storedBytes },
        deps,
        client,
        log,
        ...(bundle && { bundle }),
      });
      metrics.worker(() => worker.slots());
      stops.push(() => worker.stop());
      worker.ended.catch(fail);
      if (tracing) {
        const sending = startSendingJobs(db, tracing, log);
        stops.push(() => sending.stop());
      }
    }

    if (config.metricsPort !== null) stops.push(await serveMetrics(() => mergeMetrics(measured), config.metricsPort));
    const { values } = metrics;
    const loginUrlOf = (page: string) => url && loginTokens && `${url}/#login=${loginTokens.issue()}${page}`;
    return {
      metrics: values,
      url,
      apiKey: apiKey?.value ?? null,
      apiKeyCreated: apiKey?.created ?? false,
      loginUrl: loginUrlOf(''),
      loginUrlOf,
      temporalUi,
      ended,
      stop,
    };
  } catch (error) {
    // Report why the start failed, not what failed during the clean-up.
    await stop().catch((err: Error) => log.error({ err }, 'a part of the service did not stop as it should'));
    throw error;
  }
}

/** Loads OpenTelemetry's SDK, which a service without a collector does not pay for. */
async function loadTracing(
  { captureContent }: NonNullable<Config['tracing']>,
  log: Logger,
  addressOf: TracingOptions['addressOf'],
): Promise<Tracing> {
  const { startTracing } = await import('./tracing/otel.js');
  return startTracing({ captureContent, hide: hideKeys, addressOf, version, log });
}
