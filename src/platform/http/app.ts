import { randomUUID } from 'node:crypto';
import fastifyHelmet from '@fastify/helmet';
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
} from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { registerAudit } from '../../access/routes/audit.js';
import { registerAuditLog } from '../../access/routes/audit-log.js';
import { registerKeys } from '../../access/routes/keys.js';
import { registerLimits } from '../../access/routes/limits.js';
import { registerOrgs } from '../../access/routes/orgs.js';
import { registerProviderKeys } from '../../access/routes/provider-keys.js';
import { isPublic, registerAuth } from './server/auth.js';
import { registerBodyParser } from './server/body.js';
import { admitTemporalUi, registerCodec } from './server/codec.js';
import { registerCompression } from './compression.js';
import { registerDashboard } from './dashboard/routes.js';
import { registerTry } from '../../kinds/evaluation/routes/try.js';
import { registerRuns } from '../../runs/routes/routes.js';
import { registerReviews } from '../../reviews/routes/routes.js';
import { registerDatasets } from '../../datasets/routes/routes.js';
import { registerDeployments } from '../../kinds/deployment/routes/routes.js';
import { registerCheckups } from '../../kinds/checkup/routes/routes.js';
import { registerMigrations } from '../../kinds/migration/routes/routes.js';
import { registerSchedules } from '../../schedules/routes/routes.js';
import type { App, HttpDeps } from './deps.js';
import { registerDocs } from './openapi/docs.js';
import { ApiError, sendError, toApiError } from './server/errors.js';
import { evaluationKind } from '../../kinds/evaluation/routes/routes.js';
import { graphKind } from '../../kinds/graph/routes/routes.js';
import type { HttpKind } from '../../jobs/routes/kind.js';
import { registerKind } from '../../jobs/routes/routes.js';
import { registerWebhooks } from '../../jobs/routes/webhooks.js';
import { registerComparisons } from '../../comparisons/routes/routes.js';
import { registerHealth } from './server/health.js';
import { registerHealthOfCalls } from '../../health/routes/routes.js';
import { createAdmission } from './admission/admission.js';
import { overCapacity } from './admission/gate.js';
import { registerHosts } from './server/hosts.js';
import { registerIdempotency } from './server/idempotency.js';
import { closeUnusedConnections, refuseBrokenHttp } from './server/connections.js';
import { registerNotFound } from './server/not-found.js';
import { createKeyHash } from './server/presented-key.js';
import { clientRequestId, registerRequestIds, shownRequestId } from './request-ids.js';
import { registerProviders } from './server/providers.js';
import { validate } from './server/schema.js';
import { limitStrangers } from './server/strangers.js';
import { registerRetirements } from '../../models/routes/retirements/routes.js';
import { sessionKind } from '../../kinds/session/routes/routes.js';

/** What the dashboard needs, and nothing else. */
const contentPolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};
/** The kinds of job with rollouts. Deployments have routes of their own. */
const kinds: HttpKind[] = [sessionKind, evaluationKind, graphKind];
const bodyLimit = 1024 * 1024;
const longestParam = 300;
const requestTimeoutMs = 60_000;

/** Builds the complete HTTP server, not yet listening. */
export async function buildApp(deps: HttpDeps): Promise<App> {
  const admission = createAdmission(deps);
  const app = createServer(deps.log, admission.serverFactory);
  registerHooks(app, deps);
  registerHosts(app, deps);
  if (deps.codec?.uiOrigin) admitTemporalUi(app, deps.codec.uiOrigin);
  closeUnusedConnections(app, deps.shutdown);
  registerBodyParser(app);
  const hashOf = createKeyHash(deps.secretKey);
  limitStrangers(app, hashOf);
  registerAuth(app, deps, hashOf);
  admission.register(app);
  registerNotFound(app);
  registerIdempotency(app, deps);
  registerAudit(app, deps);
  await app.register(fastifyHelmet, {
    // Plain HTTP only; a proxy in front adds TLS and its headers.
    strictTransportSecurity: false,
    contentSecurityPolicy: { useDefaults: false, directives: contentPolicy },
  });
  await registerCompression(app);
  await registerDocs(app, deps.version);
  await registerRoutes(app, deps);
  await app.ready();
  return app;
}

function createServer(log: Logger, serverFactory: FastifyServerFactory): App {
  const app: App = fastify({
    serverFactory,
    loggerInstance: log as FastifyBaseLogger,
    // A hook logs requests at debug level: clients poll.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    routerOptions: { maxParamLength: longestParam },
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    childLoggerFactory: (logger, bindings, options, { headers }) => {
      const given = clientRequestId(headers);
      return logger.child(given === null ? bindings : { ...bindings, client_request_id: given }, options);
    },
    frameworkErrors: (error, request, reply) => {
      void reply.header('x-request-id', shownRequestId(request));
      void sendError(request, reply, toApiError(error));
    },
    // A hook refuses them, with `retry-after` and in the shape of its path.
    return503OnClosing: false,
    clientErrorHandler: refuseBrokenHttp,
  }).withTypeProvider<ZodTypeProvider>();
  registerRequestIds(app);
  app.setValidatorCompiler(validate);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(answerError);
  return app;
}

function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // The caller went before its body was read: no fault of the service, and nobody reads this.
  const { raw } = request;
  const isCut = raw.destroyed && (!raw.complete || thrown === raw.errored);
  const error = isCut ? new ApiError(400, 'bad_request', 'The body was cut off.') : toApiError(thrown);
  // A line for each call beyond capacity would add to the load; the metrics count them.
  if (error.status >= 500 && !(thrown instanceof ApiError && thrown.code === overCapacity)) {
    // A refusal that the service decided on, as for a provider's fault, is no fault of its own.
    const level = thrown instanceof ApiError ? 'warn' : 'error';
    request.log[level]({ err: thrown, method: request.method, url: request.url }, error.message);
  }
  return sendError(request, reply, error);
}

/** Registers the first and the last hook of every request. */
function registerHooks(app: App, deps: Pick<HttpDeps, 'shutdown' | 'observe'>): void {
  // Hooks of every request call `done`: a promise of each would cost more than they do.
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', shownRequestId(request));
    // An answer to a key may hold a secret, and is its caller's alone.
    if (!isPublic(request.routeOptions.url)) void reply.header('cache-control', 'no-store');
    const { url } = request.routeOptions;
    if (!deps.shutdown.aborted || url === '/livez' || url === '/readyz') return done();
    void reply.header('connection', 'close');
    done(new ApiError(503, 'draining', 'This instance is shutting down; retry the request.'));
  });
  app.addHook('onResponse', (request, reply, done) => {
    deps.observe?.(request.method, request.routeOptions.url ?? 'none', reply.statusCode, reply.elapsedTime / 1_000);
    request.log.debug(
      { method: request.method, url: request.url, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'answered',
    );
    done();
  });
}

async function registerRoutes(app: App, deps: HttpDeps): Promise<void> {
  await registerDashboard(app, deps);
  registerHealth(app, deps);
  if (deps.codec) registerCodec(app, deps.codec);
  registerProviders(app, deps);
  registerRetirements(app, deps);
  registerHealthOfCalls(app, deps);
  for (const kind of kinds) registerKind(app, deps, kind);
  registerDeployments(app, deps);
  registerMigrations(app, deps);
  registerCheckups(app, deps);
  registerSchedules(app, deps);
  registerTry(app, deps);
  registerRuns(app, deps);
  registerReviews(app, deps);
  registerComparisons(app, deps);
  registerWebhooks(app, deps);
  registerOrgs(app, deps);
  registerKeys(app, deps);
  registerLimits(app, deps);
  registerProviderKeys(app, deps);
  registerAuditLog(app, deps);
  await registerDatasets(app, deps);
  deps.registerInference(app);
}
