import { setMaxListeners } from 'node:events';
import { verifyInferenceKey } from '../clients/container/inference-key.js';
import { checkModel } from '../models/client/model-check.js';
import { checkContainerUrl, checkWebhookUrl } from '../clients/net/egress.js';
import { allowsJavascript, javascriptRefused } from '../scorers/client/client.js';
import { javascriptProblem } from '../scorers/client/javascript.js';
import { buildApp } from '../platform/http/app.js';
import type { LoginTokens } from '../platform/http/dashboard/login-tokens.js';
import type { HttpDeps } from '../platform/http/deps.js';
import { createBytesInFlight } from '../models/routes/bytes-in-flight.js';
import { registerDeploymentInference } from '../models/routes/deployments/routes.js';
import { registerProxy } from '../models/routes/proxy.js';
import type { Db } from '../platform/db/db.js';
import { payloadCodec } from '../platform/temporal/codec.js';
import { createCommander } from '../platform/temporal/commands.js';
import { explainFault } from '../platform/temporal/connection.js';
import { createReadiness, type Readiness } from '../platform/temporal/readiness.js';
import { watchSearchAttributes } from '../platform/temporal/search-attributes.js';
import { createScheduler } from '../platform/temporal/schedules.js';
import { startWorkflow } from '../platform/temporal/starter.js';
import { startDueRuns } from '../schedules/routes/due-runs.js';
import { readTaskQueues } from '../platform/temporal/task-queues.js';
import { anyWorker } from '../platform/temporal/worker-checks.js';
import type { Address } from './address.js';
import { version } from './version.js';
import type { WorkerProcess } from './worker-process.js';
import { openDatabase } from './connections.js';
import type { Shared } from './parts.js';

/** Connections that may wait to be accepted. A client repeats a dropped one after a second. */
const backlog = 4_096;

interface ApiOptions {
  address: Address;
  loginTokens: LoginTokens | null;
  /** The worker in a process of its own, if there is one. */
  worker: WorkerProcess | null;
}

interface RunningApi {
  url: string;
  readiness: Readiness;
}

/** Starts the API. At its stop it lets requests end, and refuses new ones. */
export async function startApi(shared: Shared, { address, loginTokens, worker }: ApiOptions): Promise<RunningApi> {
  const { config, roles, log, life, secretKey, publicUrl, notifications, temporal, metrics, tracing } = shared;
  const shutdown = new AbortController();
  // One listener per open stream.
  setMaxListeners(0, shutdown.signal);
  // With a worker here, requests must not queue behind rollouts for a connection.
  const db = roles.work && !worker ? openDatabase(shared) : shared.db;
  const attributes = watchSearchAttributes(temporal, log);
  // A look that waits for Temporal ends with the connection.
  life.onStop(() => void attributes.stop());
  const readiness = createReadiness({
    db,
    client: temporal,
    explain: (cause) => explainFault(shared.servers.temporal, cause),
    namespaceProblem: () => attributes.problem(),
    checkWorker: anyWorker({ db, client: temporal, workerEnds: () => worker?.endsInMinute() ?? 0 }),
    log,
  });
  const deps: HttpDeps = {
    db,
    notifications,
    log,
    scheduler: createScheduler(temporal, db),
    commander: createCommander(temporal, async ({ orgId, jobId, kind }) => {
      await startWorkflow(temporal, db, { orgId, jobId, kind });
    }),
    secretKey,
    publicUrl,
    listenHost: config.host,
    allowedHosts: config.allowedHosts,
    version,
    loginTokens,
    ...temporalViews(shared),
    ...checks(shared),
    startProblem: () => attributes.current(),
    readiness,
    taskQueues: () => readTaskQueues(temporal),
    registerInference: inferenceRoutes(shared, db),
    tracing,
    observe: metrics.request,
    observeEventLag: metrics.eventLag,
    observeReward: metrics.deploymentReward,
    shutdown: shutdown.signal,
  };
  const app = await buildApp(deps);
  const dueRuns = startDueRuns(deps);
  life.onStop(async () => {
    shutdown.abort();
    await Promise.all([app.close(), dueRuns.stop()]);
  });
  await address.release();
  return { url: await app.listen({ port: address.port, host: config.host, backlog }), readiness };
}

/** What the API shows of Temporal. */
function temporalViews({ config, servers, temporal }: Shared): Pick<HttpDeps, 'temporalUrl' | 'codec'> {
  const { temporalUi } = servers;
  const { namespace } = temporal.options;
  return {
    temporalUrl: (workflowId) => temporalUi && `${temporalUi}/namespaces/${namespace}/workflows/${workflowId}`,
    codec: config.codecKey && {
      codec: payloadCodec(config.codecKey),
      namespace,
      uiOrigin: temporalUi && new URL(temporalUi).origin,
    },
  };
}

type Checks =
  | 'checkContainerUrl'
  | 'checkWebhookUrl'
  | 'checkJavascript'
  | 'checkProvider'
  | 'listProviders'
  | 'listedEnds'
  | 'checkModel'
  | 'verifyInferenceKey';

/** What requests may name: URLs, code, providers, models and keys of containers. */
function checks({ config, providers, secretKey }: Shared): Pick<HttpDeps, Checks> {
  const { mode, allowlist } = config.egress;
  return {
    checkContainerUrl: (url) => checkContainerUrl(url, mode, allowlist),
    checkWebhookUrl: (url) => checkWebhookUrl(url, mode, allowlist),
    checkJavascript: (code, orgId) =>
      allowsJavascript(config.javascriptOrgs, orgId) ? javascriptProblem(code) : javascriptRefused,
    checkProvider: (name, own) => providers.check(name, own),
    listProviders: (own) => providers.list(own),
    listedEnds: (...asked) => providers.listedEnds(...asked),
    checkModel: (payer, asked, signal) => checkModel(providers.forPayer(payer), asked, signal),
    verifyInferenceKey: (presented, job) => verifyInferenceKey(secretKey, presented, job),
  };
}

/** The routes that call models for containers and for users of deployments. */
function inferenceRoutes(shared: Shared, db: Db): HttpDeps['registerInference'] {
  const { config, notifications, providers, tracing, log, secretKey, metrics } = shared;
  return (app) => {
    const bytes = createBytesInFlight(config.maxBytesInFlight);
    const inference = { db, notifications, providers, tracing, log, bytes };
    const observe = metrics.deploymentRequest;
    registerProxy(app, { ...inference, secretKey });
    registerDeploymentInference(app, { ...inference, secretKey, observe });
  };
}
