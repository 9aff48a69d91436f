import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { checkNames, type Check } from '../../temporal/readiness.js';
import type { App, HttpDeps } from '../deps.js';
import { toApiError } from './errors.js';
import { problems } from './schema.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Rejects unless the request has a valid key. */
    identify(request: FastifyRequest): Promise<void>;
  }
}

const checkName = `(${checkNames.join('|')})`;
export const readinessQuerySchema = z.object({
  exclude: z
    .string()
    .regex(new RegExp(`^${checkName}(,${checkName})*$`), `must be of ${checkNames.join(', ')}, separated by commas`)
    .optional()
    .describe('Checks to leave out, separated by commas: for probes that must not fail with what other processes do.'),
});

export type ReadinessQuery = z.infer<typeof readinessQuerySchema>;

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

export type ReadinessAnswer = z.infer<typeof readinessSchema>;

/** What a process answers to a question for its readiness. */
export function readinessAnswer(
  found: readonly Check[],
  { exclude = '' }: ReadinessQuery,
  { isDraining, showsDetails }: { isDraining: boolean; showsDetails: boolean },
): ReadinessAnswer {
  const left = exclude.split(',');
  const asked = found.filter(({ name }) => !left.includes(name));
  const checks = asked.map(({ name, ok, detail }) => [name, { ok, detail: showsDetails ? detail : null }] as const);
  const status = isDraining ? 'draining' : asked.every(({ ok }) => ok) ? 'ready' : 'not_ready';
  return { status, checks: Object.fromEntries(checks) };
}

/** Public routes: liveness, readiness with missing parts. */
export function registerHealth(app: App, deps: HttpDeps): void {
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

  const given = problems(422);
  app.get(
    '/readyz',
    {
      schema: {
        tags: ['Service'],
        security: [],
        operationId: 'getReadiness',
        summary: 'Readiness: database, migrations, Temporal, worker',
        description: 'Details of what is missing are shown to a valid key. `exclude` leaves checks out.',
        querystring: readinessQuerySchema,
        response: { 200: readinessSchema, 401: given[401], 422: given[422], 429: given[429], 503: readinessSchema },
      },
    },
    async (request, reply) => {
      const [isKnown, found] = await Promise.all([hasKey(app, request), deps.readiness()]);
      const isDraining = deps.shutdown.aborted;
      const answer = readinessAnswer(found, request.query, { isDraining, showsDetails: isKnown });
      return reply.code(answer.status === 'ready' ? 200 : 503).send(answer);
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
