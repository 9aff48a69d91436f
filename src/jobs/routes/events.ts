import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { eventPageSchema, eventQuerySchema, eventStreamSchema } from '../../contracts/events/page.js';
import { isTerminalEvent } from '../../contracts/events/schema.js';
import { isTerminal } from '../../core/jobs/status.js';
import type { JobRow } from '../store/jobs.js';
import { isAtEnd, readEvents } from '../store/event-reads.js';
import { defaultTiming, type App, type HttpDeps } from '../../platform/http/deps.js';
import { refuse } from '../../platform/http/server/errors.js';
import { requireKept } from './expired.js';
import type { JobRoute } from './kind.js';
import { eventReaderOf, line } from './event-reader.js';
import { problems, streamResponse } from '../../platform/http/server/schema.js';
import { stream } from '../../platform/http/server/sse.js';

const defaultPage = 100;

/** The schema of all event routes. */
export const eventsRoute = {
  querystring: eventQuerySchema,
  response: {
    200: streamResponse(eventStreamSchema, eventPageSchema),
    204: z.undefined().describe('The job has ended and has no more events.'),
    ...problems(404, 410, 422),
  },
};

/** `at`: the paths below that of a job. */
export function registerEvents(
  app: App,
  deps: HttpDeps,
  { path, params, tags, name, find }: JobRoute<unknown>,
  at: readonly string[],
): void {
  for (const each of at) {
    app.get(
      `${path}${each}`,
      {
        exposeHeadRoute: false,
        schema: {
          tags,
          operationId: each.endsWith('/stream') ? `stream${name}Events` : `list${name}Events`,
          summary: 'Events as a stream or as JSON',
          description: 'Server-sent events; JSON with `Accept: application/json`, `since_seq` or `limit`.',
          params,
          ...eventsRoute,
        },
      },
      async (request, reply) => events(deps, request, reply, await find(request), request.query),
    );
  }
}

/** Sends a job's events as a stream, or as a JSON page on request. */
export async function events(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  job: JobRow<unknown>,
  query: z.output<typeof eventQuerySchema>,
): Promise<FastifyReply | void> {
  requireKept(job, 'events');
  const after = lastEventId(request) ?? query.after ?? query.since_seq ?? 0;
  if (wantsJson(request, query)) return reply.send(await page(deps, job, after, query.limit ?? defaultPage));

  const ended = isTerminal(job.status) && (await deps.db.org(job.orgId, (tx) => isAtEnd(tx, job.jobId, after)));
  if (ended) return reply.code(204).send();
  const read = eventReaderOf(deps.db);
  // Events of the first pages are history.
  let isLive = false;
  await stream(request, reply, after, {
    async read(position) {
      const page = await read(job, position);
      if (isLive && page.oldestAt) deps.observeEventLag?.((Date.now() - page.oldestAt.getTime()) / 1_000);
      isLive ||= !page.full;
      return page;
    },
    subscribe: (wake) => deps.notifications.on('ratchet_events', job.jobId, wake),
    isLast: ({ event }) => isTerminalEvent(event),
    shutdown: deps.shutdown,
    ...defaultTiming,
    ...deps.timing,
  });
}

/** `Accept` decides; without it paging parameters request JSON. */
function wantsJson({ headers }: FastifyRequest, query: z.output<typeof eventQuerySchema>): boolean {
  const accept = headers.accept ?? '';
  if (accept.includes('text/event-stream')) return false;
  return accept.includes('application/json') || query.since_seq !== undefined || query.limit !== undefined;
}

function lastEventId({ headers }: FastifyRequest): number | undefined {
  const id = headers['last-event-id']?.toString().trim();
  if (id === undefined || id === '') return undefined;
  if (!/^\d{1,15}$/.test(id))
    throw refuse.invalid([{ pointer: '/last-event-id', message: 'must be the id of an event of this stream' }]);
  return Number(id);
}

async function page(
  { db }: HttpDeps,
  { orgId, jobId }: JobRow<unknown>,
  after: number,
  limit: number,
): Promise<z.output<typeof eventPageSchema>> {
  const rows = await db.org(orgId, (tx) => readEvents(tx, jobId, after, limit + 1));
  const shown = rows.slice(0, limit);
  return {
    events: shown.map((row) => line(jobId, row)),
    next_seq: shown.at(-1)?.seq ?? after,
    has_more: rows.length > limit,
  };
}
