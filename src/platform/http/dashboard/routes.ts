import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { z } from 'zod';
import type { App, HttpDeps } from '../deps.js';
import { ApiError } from '../server/errors.js';
import { registerLogin } from './login.js';

/** The build of the dashboard, from the build and from the sources. */
const folders = ['../../../../dashboard/', '../../../../dist/dashboard/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/** undefined: the dashboard is not built. */
const builtFolder = () => folders.find((folder) => existsSync(`${folder}assets`));

/**
 * For files whose names stay: the route says how long they are kept. A date and a size do not tell
 * two of them apart, as a package gives all its files the same date.
 */
const kept = { cacheControl: false, etag: false, lastModified: false };

/** The dashboard at `/`, its files, and the exchange of a login link for the API key. */
export async function registerDashboard(app: App, deps: HttpDeps, root = builtFolder()): Promise<void> {
  if (root) {
    await app.register(fastifyStatic, {
      root: `${root}assets`,
      prefix: '/assets/',
      // Their names have the hash of their content.
      immutable: true,
      maxAge: '1y',
    });
  }
  app.get(
    '/',
    {
      schema: {
        tags: ['Service'],
        security: [],
        operationId: 'getService',
        summary: 'Name and version',
        description: 'Clients that do not accept JSON get the dashboard.',
        response: {
          200: {
            description: 'The service, or the dashboard.',
            content: {
              'application/json': { schema: z.record(z.string(), z.string()) },
              'text/html': { schema: z.string() },
            },
          },
        },
      },
    },
    async (request, reply) => {
      void reply.header('vary', 'accept').header('cache-control', 'no-cache');
      if (root && !wantsJson(request.headers.accept)) return reply.sendFile('index.html', root, kept);
      return reply.send({
        name: 'ratchet',
        version: deps.version,
        docs: '/docs',
        openapi: '/openapi.json',
        ready: '/readyz',
      });
    },
  );

  for (const path of ['/favicon.svg', '/favicon.ico'])
    app.get(path, { schema: { hide: true } }, async (_request, reply) => {
      if (!root) throw new ApiError(404, 'not_found', 'The dashboard is not built; run npm run build.');
      return reply.header('cache-control', 'max-age=86400').type('image/svg+xml').sendFile('favicon.svg', root, kept);
    });

  if (deps.loginTokens) registerLogin(app, deps, deps.loginTokens);
}

/** Browsers accept HTML first; a client that wants JSON says so. */
function wantsJson(accept = ''): boolean {
  return accept.includes('application/json') && !accept.includes('text/html');
}
