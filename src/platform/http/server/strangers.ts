import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { App } from '../deps.js';
import { isPublic } from './auth.js';
import { ApiError } from './errors.js';
import { createPace } from '../../../util/pace.js';
import { presentedKey, type KeyHashOf } from './presented-key.js';

const windowMs = 60_000;
/** Failed authentications of an address in a window; a user shares loopback with containers. */
const most = { remote: 100, loopback: 1_000 };
const remembered = 10_000;

/**
 * Slows down requests without a key by their address. From an address with many failed
 * authentications keys are looked up at a bounded pace, as others may share it, behind a proxy or
 * on one machine; what would wait too long is 429. Keys that were accepted before pass.
 */
export function limitStrangers(app: App, hashOf: KeyHashOf): void {
  const failures = new LRUCache<string, number>({ max: remembered, ttl: windowMs, noUpdateTTL: true });
  const accepted = new LRUCache<string, true>({ max: remembered });
  const pace = createPace();
  const lookUps = createPace();
  const wasAccepted = (request: FastifyRequest) => accepted.has(hashOf(request) ?? '');

  app.addHook('onRequest', (request, _reply, done) => {
    if ('key' in presentedKey(request)) return done();
    inTurn(pace(networkOf(request.ip)), done, tooMany);
  });

  app.addHook('onRequest', (request, _reply, done) => {
    if (!needsLookUp(request)) return done();
    const network = networkOf(request.ip);
    const limit = isLoopback(request.ip) ? most.loopback : most.remote;
    if ((failures.get(network) ?? 0) < limit || wasAccepted(request)) return done();
    inTurn(lookUps(network), done, tooManyFailures);
  });

  app.addHook('onResponse', (request, { statusCode }, done) => {
    if (!needsLookUp(request)) return done();
    if (statusCode === 401) {
      const network = networkOf(request.ip);
      failures.set(network, (failures.get(network) ?? 0) + 1);
      accepted.delete(hashOf(request) ?? '');
    } else if (request.caller) accepted.set(hashOf(request)!, true);
    done();
  });
}

/** Calls `done` after the wait for a turn; null: the wait would be too long. */
function inTurn(waitMs: number | null, done: (error?: Error) => void, refusal: () => ApiError): void {
  if (waitMs === null) done(refusal());
  else if (waitMs < 1) done();
  else setTimeout(done, waitMs);
}

function tooMany(): ApiError {
  const detail = 'Too many requests without a key from this address; retry in 1 s.';
  return new ApiError(429, 'too_many_requests', detail);
}

function tooManyFailures(): ApiError {
  const detail = 'Too many failed authentications from this address; retry in 1 s.';
  return new ApiError(429, 'too_many_failures', detail, { headers: { 'retry-after': '1' } });
}

/** Whether a failure counts: public routes need no key, and inference keys cost no look-up. */
function needsLookUp(request: FastifyRequest): boolean {
  const { url } = request.routeOptions;
  const presented = presentedKey(request);
  const key = 'key' in presented ? presented.key : null;
  return isPublic(url) ? url === '/readyz' && key !== null : !key?.startsWith('rip_');
}

/**
 * An IPv4 address, or the /64 of an IPv6 address, which one host can use as a whole. Callers that
 * are gone before the request is handled have no address.
 */
function networkOf(ip: string | undefined): string {
  if (ip === undefined) return 'gone';
  const address = ipaddr.process(ip);
  return address instanceof ipaddr.IPv6 && !isLoopback(ip) ? address.parts.slice(0, 4).join(':') : address.toString();
}

function isLoopback(ip: string | undefined): boolean {
  return ip !== undefined && ipaddr.process(ip).range() === 'loopback';
}
