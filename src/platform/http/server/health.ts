import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App, HttpDeps } from '../deps.js';
import { toApiError } from './errors.js';
import { problems } from './schema.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Rejects unless the request has a valid key. */
    identify(request: FastifyRequest): Promise<void>;
  }
}

const readinessSchema = z.object({
  status: z.enum(['ready', 'not_ready', 'draining']),
  checks: z.record(
    z.string(),
    z.object({
      ok: z.boolean(),
      detail: z.string().nullable().describe('The problem, or jobs that are stuck; null without a key.'),
    }),
  ),
});

/** Public routes: liveness, readiness with missing parts. */
export function registerHealth(app: App, deps: HttpDeps): void {
  let logged = '';
  const logChange = (checks: Record<string, { ok: boolean }>) => {
    const down = Object.keys(checks)
      .filter((name) => !checks[name]!.ok)
      .join();
    if (down !== logged) deps.log.warn({ checks }, down ? 'not ready' : 'ready again');
    logged = down;
  };
  app.get(
    '/livez',
    {
      schema: {
        tags: ['Service'],
        security: [],
        operationId: 'getLiveness',
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
        tags: ['Service'],
        security: [],
        operationId: 'getReadiness',
        summary: 'Readiness: database, migrations, Temporal, worker',
        description: 'Details of what is missing are shown to a valid key.',
        response: { 200: readinessSchema, 401: problems()[401], 429: problems()[429], 503: readinessSchema },
      },
    },
    async (request, reply) => {
      const [isKnown, found] = await Promise.all([hasKey(app, request), deps.readiness()]);
      logChange(Object.fromEntries(found.map(({ name, ok, detail }) => [name, { ok, detail }])));
      const checks = Object.fromEntries(
        found.map(({ name, ok, detail }) => [name, { ok, detail: isKnown ? detail : null }]),
      );
      const ready = found.every(({ ok }) => ok);
      const status = deps.shutdown.aborted ? 'draining' : ready ? 'ready' : 'not_ready';
      return reply.code(status === 'ready' ? 200 : 503).send({ status, checks });
    },
  );
}

/** Whether a key is presented. Rejects an invalid one; one without a look-up counts as none. */
async function hasKey(app: App, request: FastifyRequest): Promise<boolean> {
  const { authorization, 'x-api-key': key } = request.headers;
  if (authorization === undefined && key === undefined) return false;
  return app.identify(request).then(
    () => true,
    (error: unknown) => {
      if (toApiError(error).status === 401) throw error;
      return false;
    },
  );
}
