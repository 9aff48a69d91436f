import { isLoopback } from '../../../util/loopback.js';
import type { App } from '../deps.js';
import { ApiError } from './errors.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A foreign origin whose pages may call the route. */
    origin?: string;
  }
}

/** The hosts that an API answers, beside loopback names. */
export interface OwnHosts {
  publicUrl: string;
  /** The address that it listens on. */
  listenHost: string;
  /** Further ones, as a Host header has them, in small letters and without a port. */
  allowedHosts: readonly string[];
}

/** Probes call an instance by its address. */
const probes: readonly (string | undefined)[] = ['/livez', '/readyz'];
const safeMethods = ['GET', 'HEAD', 'OPTIONS'];

/** The host of a Host header, without the port. */
const hostForm = /^(\[[\da-f:.]+\]|[^:@/]+)(?::\d+)?$/;

/**
 * Refuses requests for a host that is not ours, as web pages send them by DNS rebinding (421), and
 * changes that a page of another origin asks for (403).
 */
export function registerHosts(app: App, { publicUrl, listenHost, allowedHosts }: OwnHosts): void {
  const own = new URL(publicUrl);
  const known = new Set([own.hostname, listenHost.includes(':') ? `[${listenHost}]` : listenHost.toLowerCase()]);
  for (const any of ['0.0.0.0', '[::]']) known.delete(any);
  for (const host of allowedHosts) known.add(host);

  app.addHook('onRequest', ({ headers, method, routeOptions }, _reply, done) => {
    const name = headers.host?.toLowerCase() ?? '';
    const host = hostForm.exec(name)?.[1];
    const isOurs = host !== undefined && (isLoopback(host) || known.has(host));
    if (!isOurs && !probes.includes(routeOptions.url)) return done(unknownHost(name));
    const { origin } = headers;
    if (origin === undefined || safeMethods.includes(method) || isSameOrigin(origin, name, own)) return done();
    if (origin === routeOptions.config.origin) return done();
    done(
      new ApiError(403, 'foreign_origin', `The origin ${origin} may change nothing here; call the API from a server.`),
    );
  });
}

function isSameOrigin(origin: string, host: string, own: URL): boolean {
  return origin === own.origin || (URL.canParse(origin) && new URL(origin).host === host);
}

function unknownHost(name: string): ApiError {
  return new ApiError(
    421,
    'unknown_host',
    `The host "${name.slice(0, 200)}" is not this service; call it by localhost, the host of RATCHET_PUBLIC_URL or one of RATCHET_ALLOWED_HOSTS.`,
  );
}
