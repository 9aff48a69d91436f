import type { FastifyRequest } from 'fastify';
import type { App } from '../deps.js';
import { ApiError, sendError } from './errors.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Routes with their methods. */
    routeTable: Map<string, { methods: Set<string> }>;
  }
}

interface Pattern {
  matches: RegExp;
  methods: Set<string>;
}

/** 404 for unknown paths; 405 with Allow for known paths with another method. */
export function registerNotFound(app: App): void {
  const patterns = new Map<string, Pattern>();
  app.decorate('routeTable', patterns);
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = patterns.get(url) ?? { matches: toRegExp(url), methods: new Set() };
    for (const allowed of [method].flat()) pattern.methods.add(allowed);
    patterns.set(url, pattern);
  });
  // Before the body is parsed: a method that takes a body may come without a content type.
  app.addHook('onRequest', (request, _reply, done) => {
    done(request.is404 ? refusalOf(request, allowedMethods(patterns, request)) : undefined);
  });
  app.setNotFoundHandler((request, reply) => sendError(request, reply, refusalOf(request, [])));
}

function refusalOf({ method }: FastifyRequest, allowed: string[]): ApiError {
  if (allowed.length === 0)
    return new ApiError(404, 'not_found', 'Unknown path; see /docs for the available endpoints.');
  const allow = allowed.join(', ');
  return new ApiError(405, 'method_not_allowed', `Method ${method} is not allowed; use ${allow}.`, {
    headers: { allow },
  });
}

function allowedMethods(patterns: Map<string, Pattern>, { url }: FastifyRequest): string[] {
  const path = url.split('?', 1)[0]!;
  const methods = [...patterns.values()].filter(({ matches }) => matches.test(path)).flatMap((p) => [...p.methods]);
  return [...new Set(methods)].sort();
}

function toRegExp(route: string): RegExp {
  const parts = route.split(/(:\w+|\*)/).map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
}
