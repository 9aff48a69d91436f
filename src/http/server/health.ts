import { z } from 'zod';
import type { App, HttpDeps } from '../deps.js';

const readinessSchema = z.object({
  status: z.enum(['ready', 'not_ready', 'draining']),
  checks: z.record(z.string(), z.object({ ok: z.boolean(), detail: z.string().nullable() })),
});

/** Public routes: name and version, liveness, readiness with missing parts. */
export function registerHealth(app: App, deps: HttpDeps): void {
  app.get(
    '/',
    {
      schema: {
        tags: ['service'],
        security: [],
        summary: 'Name and version',
        response: { 200: z.record(z.string(), z.string()) },
      },
    },
    () => ({
      name: 'ratchet',
      version: deps.version,
      docs: '/docs',
      openapi: '/openapi.json',
      ready: '/readyz',
    }),
  );

  app.get(
    '/livez',
    {
      schema: {
        tags: ['service'],
        security: [],
        summary: 'Liveness',
        response: { 200: z.object({ status: z.literal('live') }) },
      },
    },
    () => ({ status: 'live' as const }),
  );

  app.get(
    '/readyz',
    {
      schema: {
        tags: ['service'],
        security: [],
        summary: 'Readiness: database, migrations, Temporal, worker',
        response: { 200: readinessSchema, 503: readinessSchema },
      },
    },
    async (_request, reply) => {
      const found = await deps.readiness();
      const checks = Object.fromEntries(found.map(({ name, ok, detail }) => [name, { ok, detail }]));
      const ready = found.every(({ ok }) => ok);
      const status = deps.shutdown.aborted ? 'draining' : ready ? 'ready' : 'not_ready';
      return reply.code(status === 'ready' ? 200 : 503).send({ status, checks });
    },
  );
}
