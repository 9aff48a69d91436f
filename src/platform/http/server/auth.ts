import type { FastifyRequest } from 'fastify';
import { findKey, isWholeKey, touchKey, type KeyRow } from '../../../access/store/keys.js';
import { ExpiringMap } from '../../../util/expiring-map.js';
import type { Scope } from '../../../access/contract/access.js';
import type { App, HttpDeps } from '../deps.js';
import { ApiError } from './errors.js';
import { createLimiter } from './limits.js';
import { presentedKey, type KeyHashOf } from './presented-key.js';
import { missingScope, registerScopes } from './scopes.js';

/** The caller; its key names the organization. `keyId` is null for an inference key. */
interface Caller {
  orgId: string;
  keyId: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
  interface FastifyContextConfig {
    /** `inference`: OpenAI's API, errors included; a job's paths also accept its inference keys. */
    access?: 'inference';
  }
}

/** Public routes, with everything below /docs. All other routes require a key. */
export const publicRoutes: readonly string[] = [
  '/',
  '/livez',
  '/readyz',
  '/openapi.json',
  '/docs',
  '/assets/*',
  '/favicon.svg',
  '/favicon.ico',
  '/api/v1/login',
];

/** Whether a route needs no key. */
export function isPublic(route: string | undefined): boolean {
  return route !== undefined && (publicRoutes.includes(route) || route.startsWith('/docs/'));
}

/** The maximum delay of a revocation. */
const cachedMs = 5_000;
/** Unknown keys are looked up at most once in this time. */
const unknownMs = 1_000;
const cachedKeys = 10_000;
const inferencePrefix = 'rip_';

/** Requires a key for all paths but the public routes, unknown paths included. */
export function registerAuth(app: App, deps: HttpDeps, hashOf: KeyHashOf): void {
  const lookUp = createKeyCache(deps);
  const limiter = createLimiter(deps);
  app.addHook('onClose', () => limiter.close());
  registerScopes(app, isPublic);
  app.decorateRequest('caller', null as unknown as Caller);
  const identify = async (request: FastifyRequest, presented: string): Promise<KeyRow> => {
    if (presented.startsWith('rk_') && !isWholeKey(presented)) throw unauthorized('The API key is malformed.');
    const row = await lookUp(hashOf(request)!);
    if (!row) throw unauthorized('The API key is unknown, revoked or expired.');
    // An unknown path has no scope.
    const { scope, orScope } = request.routeOptions.config;
    const suffices = (wanted?: Scope) => wanted !== undefined && row.scopes.includes(wanted);
    if (scope && !suffices(scope) && !suffices(orScope)) throw missingScope(scope);
    request.caller = { orgId: row.orgId, keyId: row.id };
    return row;
  };
  app.decorate('identify', async (request) => void (await identify(request, keyOf(request))));
  app.addHook('onRequest', (request, reply, done) => {
    if (isPublic(request.routeOptions.url)) return done();
    const presented = keyOf(request);
    if (!presented.startsWith(inferencePrefix)) {
      return void identify(request, presented)
        .then((key) => (key.limits.length > 0 ? limiter.admit(key, request, reply) : undefined))
        .then(() => done(), done);
    }
    request.caller = inferenceCaller(request, presented, deps);
    done();
  });
}

function unauthorized(detail: string): ApiError {
  return new ApiError(401, 'unauthorized', detail, { headers: { 'www-authenticate': 'Bearer realm="ratchet"' } });
}

function keyOf(request: FastifyRequest): string {
  const presented = presentedKey(request);
  if ('fault' in presented) throw unauthorized(presented.fault);
  return presented.key;
}

function inferenceCaller(request: FastifyRequest, presented: string, deps: HttpDeps): Caller {
  const params = request.params as Record<string, string | undefined> | undefined;
  const jobId = params?.['session_id'];
  const rolloutId = params?.['correlation_id'];
  const orgId =
    request.routeOptions.config.access === 'inference' && jobId && rolloutId
      ? deps.verifyInferenceKey(presented, { jobId, rolloutId })
      : null;
  if (orgId === null) throw unauthorized('This inference key is valid only for the inference paths of its rollout.');
  return { orgId, keyId: null };
}

/** Looks up keys by their full hash; concurrent requests with the same key share a look-up. */
function createKeyCache({ db, log }: HttpDeps): (hash: string) => Promise<KeyRow | null> {
  const known = new ExpiringMap<string, KeyRow>(cachedKeys, cachedMs);
  const unknown = new ExpiringMap<string, true>(cachedKeys, unknownMs);
  const pending = new Map<string, Promise<KeyRow | null>>();

  const lookUp = async (hash: string): Promise<KeyRow | null> => {
    const since = performance.now();
    const row = await findKey(db, Buffer.from(hash, 'hex'));
    if (!row) {
      unknown.set(hash, true, since);
      return null;
    }
    known.set(hash, row, since);
    touchKey(db, row).catch((error: unknown) => log.warn({ err: error }, "could not record a key's last use"));
    return row;
  };

  return async (hash) => {
    const row = known.get(hash);
    if (row) return row;
    if (unknown.get(hash)) return null;
    const running = pending.get(hash);
    if (running) return running;
    const started = lookUp(hash).finally(() => pending.delete(hash));
    pending.set(hash, started);
    return started;
  };
}
