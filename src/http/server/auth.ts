import type { FastifyRequest } from 'fastify';
import { findKey, hashKey, isWholeKey, touchKey, type KeyRow } from '../../storage/access/keys.js';
import type { App, HttpDeps } from '../deps.js';
import { ApiError } from './errors.js';

/** Who is calling: the organization comes from the key and from nowhere else. `keyId` is null for a job's own key. */
interface Caller {
  orgId: string;
  keyId: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
  interface FastifyContextConfig {
    /** `inference`: a job's own key opens this route too, and its errors are OpenAI's. */
    access?: 'inference';
  }
}

/** The routes that anybody may read; whatever is below /docs belongs to it. Every other one needs a key. */
export const publicRoutes: readonly string[] = ['/', '/livez', '/readyz', '/openapi.json', '/docs'];

function isPublic(route: string | undefined): boolean {
  return route !== undefined && (publicRoutes.includes(route) || route.startsWith('/docs/'));
}

const cachedMs = 5_000;
const cachedKeys = 10_000;
const inferencePrefix = 'rip_';

/** Refuses every request without a key, but for the public routes; unknown paths included. */
export function registerAuth(app: App, deps: HttpDeps): void {
  const lookUp = createKeyCache(deps);
  app.decorateRequest('caller', null as unknown as Caller);
  app.addHook('onRequest', async (request) => {
    if (isPublic(request.routeOptions.url)) return;
    const presented = presentedKey(request);
    if (presented.startsWith(inferencePrefix)) {
      request.caller = inferenceCaller(request, presented, deps);
      return;
    }
    if (presented.startsWith('rk_') && !isWholeKey(presented))
      throw unauthorized('The API key is incomplete or mistyped.');
    const row = await lookUp(presented);
    if (!row) throw unauthorized('The API key is not known, or was revoked or has expired.');
    request.caller = { orgId: row.orgId, keyId: row.id };
  });
}

function unauthorized(detail: string): ApiError {
  return new ApiError(401, 'unauthorized', detail, { headers: { 'www-authenticate': 'Bearer realm="ratchet"' } });
}

/** The key of a request: `Authorization: Bearer` or `X-API-Key`, or both when they are the same. */
function presentedKey({ headers }: FastifyRequest): string {
  const bearer =
    headers.authorization === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(headers.authorization)?.[1];
  if (headers.authorization !== undefined && bearer === undefined) {
    throw unauthorized('The Authorization header must be "Bearer <API key>".');
  }
  const header = headers['x-api-key']?.toString().trim();
  if (bearer !== undefined && header !== undefined && bearer !== header) {
    throw unauthorized('Authorization and X-API-Key carry two different keys; send one.');
  }
  const key = bearer ?? header;
  if (!key) throw unauthorized('Send your API key as "Authorization: Bearer <key>" or as X-API-Key.');
  return key;
}

function inferenceCaller(request: FastifyRequest, presented: string, deps: HttpDeps): Caller {
  const params = request.params as Record<string, string | undefined> | undefined;
  const jobId = params?.['session_id'];
  const rolloutId = params?.['correlation_id'];
  const orgId =
    request.routeOptions.config.access === 'inference' && jobId && rolloutId
      ? deps.verifyInferenceKey(presented, { jobId, rolloutId })
      : null;
  if (orgId === null)
    throw unauthorized('This inference key opens only the inference paths of the rollout it was made for.');
  return { orgId, keyId: null };
}

/** Looks keys up by their full hash, each at most once in five seconds, so a revoked key is refused within that. */
function createKeyCache({ db, secretKey, log }: HttpDeps): (key: string) => Promise<KeyRow | null> {
  const cache = new Map<string, { until: number; row: Promise<KeyRow | null> }>();
  return async (key) => {
    const hash = hashKey(secretKey, key);
    const name = hash.toString('hex');
    const hit = cache.get(name);
    if (hit && hit.until > Date.now()) return hit.row;
    const found = findKey(db, hash);
    if (cache.size >= cachedKeys) cache.clear();
    cache.set(name, { until: Date.now() + cachedMs, row: found });
    try {
      const row = await found;
      if (row)
        touchKey(db, row).catch((error: unknown) => log.warn({ err: error }, 'the last use of a key was not noted'));
      else cache.delete(name);
      return row;
    } catch (error) {
      cache.delete(name);
      throw error;
    }
  };
}
