import type { RouteOptions } from 'fastify';
import type { Scope } from '../../../access/contract/access.js';
import type { App } from '../deps.js';
import { ApiError } from './errors.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope that a key needs for the route; absent at registration: that of `scopeOf`. */
    scope?: Scope;
    /** Another scope that suffices for the route. */
    orScope?: Scope;
  }
}

/** Base of the routes that need `admin`. */
export const adminBase = '/api/v1/admin';

const safeMethods = ['GET', 'HEAD'];

/** The scope of a route that names none: by its access, its path, then its methods. */
function scopeOf({ config, url, method }: RouteOptions): Scope {
  if (config?.access === 'inference') return 'infer';
  if (url.startsWith(`${adminBase}/`)) return 'admin';
  return [method].flat().every((name) => safeMethods.includes(name)) ? 'read' : 'write';
}

/** Gives every route its scope; register before the routes and their documentation. */
export function registerScopes(app: App, isPublic: (url: string) => boolean): void {
  app.addHook('onRoute', (route) => {
    if (isPublic(route.url)) return;
    route.config = { ...route.config, scope: route.config?.scope ?? scopeOf(route) };
  });
}

/** The refusal of a key without the route's scope. */
export function missingScope(scope: Scope): ApiError {
  return new ApiError(403, 'missing_scope', `The API key lacks the scope "${scope}"; use a key that has it.`, {
    extra: { required_scope: scope },
  });
}
