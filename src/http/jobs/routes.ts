import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  commandBodySchema,
  controlAnswerSchema,
  jobChangeSchema,
  rewardAnswerSchema,
  rewardSchema,
} from '../../contracts/control.js';
import { traceSchema } from '../../contracts/rollouts/trace.js';
import type { JobKind } from '../../core/jobs/kinds.js';
import type { JobRow } from '../../storage/jobs/jobs.js';
import { registerClone, type CloneRoute } from './clone.js';
import { patchCommands, control, findJob } from './control.js';
import type { App, HttpDeps } from '../deps.js';
import { deleteEndedJob } from './delete.js';
import { createEventReader } from './event-reader.js';
import { events, eventsRoute } from './events.js';
import { mark } from './labels.js';
import { reward } from './reward.js';
import { createContainerKeys } from '../server/container-keys.js';
import { archiveResponse, bodyProblems, idempotencyHeader, problems } from '../server/schema.js';
import { trace, traceArchive } from './traces.js';
import { idFields } from './view.js';

/** Paths of a job kind, and the name of its id in them. */
export interface JobRoutes {
  base: string;
  param: 'session_id' | 'job_id';
  kind: JobKind;
  /** With an article, for summaries. */
  noun: string;
  /** In operation ids. */
  name: string;
  tags: string[];
  eventPaths: string[];
  /** PATCH accepts the id of any kind of job. */
  patchesAnyKind: boolean;
  clone: CloneRoute;
}

/** Routes of every kind of job: PATCH, DELETE, pause, resume, cancel, reward, events and traces. */
export function registerJobRoutes(app: App, deps: HttpDeps, routes: JobRoutes): void {
  const { param, kind, noun, name, tags } = routes;
  const jobPath = `${routes.base}/:${param}`;
  const params = z.object({ [param]: z.string() });
  const jobId = (request: FastifyRequest) => (request.params as Record<string, string>)[param]!;
  const find = (request: FastifyRequest): Promise<JobRow> => findJob(deps, request, jobId(request), kind);
  const read = createEventReader(deps.db);
  const keys = createContainerKeys(deps.secretKey);
  const answers = { 200: controlAnswerSchema, 202: controlAnswerSchema, ...bodyProblems(404, 409) };

  app.patch(
    jobPath,
    {
      schema: {
        tags,
        operationId: `update${name}`,
        summary: routes.patchesAnyKind
          ? 'Pause, resume, cancel, label or archive a job of any kind'
          : `Pause, resume, cancel, label or archive ${noun}`,
        params,
        body: jobChangeSchema,
        response: answers,
      },
    },
    async (request, reply) => {
      const job = routes.patchesAnyKind ? await findJob(deps, request, jobId(request)) : await find(request);
      const { state, ...marks } = request.body;
      if (state) return control(deps, reply, job, patchCommands[state]);
      await mark(deps, job, marks);
      return reply.send({ ...idFields(job.jobId), status: job.status });
    },
  );

  app.delete(
    jobPath,
    {
      schema: {
        tags,
        operationId: `delete${name}`,
        summary: `Delete ${noun} that has ended, with all its data`,
        description:
          'It is gone for all readers at once. Its rows, events, traces, texts and history in Temporal are deleted, which takes longer than the answer where there are many.',
        params,
        response: { 204: z.undefined().describe('Deleted.'), ...problems(404, 409) },
      },
    },
    async (request, reply) => {
      await deleteEndedJob(deps, await find(request));
      return reply.code(204).send();
    },
  );

  for (const command of ['pause', 'resume', 'cancel'] as const) {
    app.post(
      `${jobPath}/${command}`,
      {
        schema: {
          tags,
          operationId: `${command}${name}`,
          summary: `${command[0]!.toUpperCase()}${command.slice(1)} ${noun}`,
          params,
          headers: idempotencyHeader,
          body: commandBodySchema,
          response: answers,
        },
      },
      async (request, reply) => control(deps, reply, await find(request), command),
    );
  }

  registerClone(app, deps, { ...routes, jobPath, params, find });

  app.post(
    `${jobPath}/reward`,
    {
      config: { audit: 'none' },
      schema: {
        tags,
        operationId: `report${name}Reward`,
        summary: 'Report a reward',
        params,
        headers: idempotencyHeader,
        body: rewardSchema,
        response: { 200: rewardAnswerSchema, 202: rewardAnswerSchema, ...bodyProblems(404, 409) },
      },
    },
    async (request, reply) => reward(deps, reply, await find(request), request.body, keys),
  );

  for (const path of routes.eventPaths) {
    app.get(
      `${jobPath}${path}`,
      {
        exposeHeadRoute: false,
        schema: {
          tags,
          operationId: path.endsWith('/stream') ? `stream${name}Events` : `list${name}Events`,
          summary: 'Events as a stream or as JSON',
          description: 'Server-sent events; JSON with `Accept: application/json`, `since_seq` or `limit`.',
          params,
          ...eventsRoute,
        },
      },
      async (request, reply) => events(deps, request, reply, await find(request), request.query, read),
    );
  }

  app.get(
    `${jobPath}/traces`,
    {
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: `download${name}Traces`,
        summary: 'All traces as a ZIP',
        params,
        response: { 200: archiveResponse, ...problems(404, 410) },
      },
    },
    async (request, reply) => traceArchive(deps, request, reply, await find(request)),
  );

  app.get(
    `${jobPath}/traces/:trace_id`,
    {
      schema: {
        tags,
        operationId: `get${name}Trace`,
        summary: 'One trace',
        params: params.extend({ trace_id: z.string() }),
        response: { 200: traceSchema, ...problems(404, 410) },
      },
    },
    async (request) => trace(deps, await find(request), String(request.params['trace_id'])),
  );
}
