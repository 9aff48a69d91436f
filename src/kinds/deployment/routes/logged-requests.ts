/** Requests whose texts a deployment keeps: search, export, data sets of them, deletion. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { pageSchema } from '../../../contracts/common.js';
import { datasetView, storeRows } from '../../../datasets/routes/stored.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { refuse } from '../../../platform/http/server/errors.js';
import { cursorAfter, parseTimeCursor } from '../../../platform/http/server/pages.js';
import { bodyProblems, problems } from '../../../platform/http/server/schema.js';
import {
  exportQuerySchema,
  loggedDatasetAnswerSchema,
  loggedDatasetSchema,
  loggedQuerySchema,
  loggedRequestSchema,
} from '../contract/logged-requests.js';
import { reviewView } from '../../../rows/routes/review-view.js';
import { AnswerIds } from '../store/answer-ids.js';
import { deleteRequest, readRequest, type StoredRequest } from '../store/logged-requests.js';
import { find, path, tags } from './find.js';
import { allRequests, nextRequests, type FilterRequest, type Searched } from './request-search.js';
import { datasetLines } from './request-rows.js';

const params = z.object({ deployment_id: z.string().describe('An id, or a name: all its deployments.') });
const requestParams = params.extend({ answer_id: z.string() });
const base = `${path}/requests` as const;

export function registerLoggedRequests(app: App, deps: HttpDeps): void {
  registerSearch(app, deps);
  registerDataset(app, deps);
  registerOne(app, deps);
}

function registerSearch(app: App, deps: HttpDeps): void {
  app.get(
    base,
    {
      schema: {
        tags,
        operationId: 'searchDeploymentRequests',
        summary: 'Requests with their texts, newest first',
        description:
          'Those that `log` keeps. A page may have fewer rows than `limit`, or none, and still a `next_cursor`: it looks at a limited number of requests.',
        params,
        querystring: loggedQuerySchema,
        response: { 200: pageSchema(loggedRequestSchema), ...problems(404, 422) },
      },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const after = parseTimeCursor(cursor);
      const searched = await searchedBy(deps, request, request.params.deployment_id, filter);
      const { rows, last } = await nextRequests(deps.db, searched, { after, limit });
      return {
        data: rows.map((row) => view(row, request.caller.keyId)),
        next_cursor: last && cursorAfter(last),
        has_more: last !== null,
      };
    },
  );

  app.get(
    `${base}/export`,
    {
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'exportDeploymentRequests',
        summary: 'All requests with their texts, one per line',
        params,
        querystring: exportQuerySchema,
        response: {
          200: {
            description: 'Requests in the form of the list as JSON, newest first.',
            content: { 'application/jsonl': { schema: z.string() } },
          },
          ...problems(404, 422),
        },
      },
    },
    async (request, reply) => {
      const searched = await searchedBy(deps, request, request.params.deployment_id, request.query);
      return sendLines(reply, allRequests(deps.db, searched), request.caller.keyId);
    },
  );
}

function sendLines(reply: FastifyReply, rows: AsyncIterable<StoredRequest>, keyId: string | null): FastifyReply {
  const lines = async function* () {
    for await (const row of rows) yield `${JSON.stringify(view(row, keyId))}\n`;
  };
  return reply.type('application/jsonl; charset=utf-8').send(Readable.from(lines()));
}

function registerDataset(app: App, deps: HttpDeps): void {
  app.post(
    `${base}/dataset`,
    {
      schema: {
        tags,
        operationId: 'createDatasetOfRequests',
        summary: 'Make a data set of requests',
        description:
          'Each request becomes a row with `input` (its text, or its messages where there are several), `expected`, `answer`, `reward` and `answer_id`. Its first system message is left out: the deployment replaces it.',
        params,
        body: loggedDatasetSchema,
        response: { 200: loggedDatasetAnswerSchema, 201: loggedDatasetAnswerSchema, ...bodyProblems(404) },
      },
      // The same rows are the same data set.
      config: { idempotency: 'none' },
    },
    async (request, reply) => {
      const { limit, expected, ...filter } = request.body ?? loggedDatasetSchema.unwrap().unwrap().parse({});
      const searched = await searchedBy(deps, request, request.params.deployment_id, filter);
      const count = { rows: 0, bytes: 0, leftOut: 0 };
      const lines = datasetLines(allRequests(deps.db, searched), { expected, limit, count });
      const name = `Requests of ${searched.name}`;
      const { dataset, isNew } = await storeRows(deps.db, searched.orgId, 'jsonl', lines, name);
      return reply.code(isNew ? 201 : 200).send({ ...datasetView(dataset), left_out: count.leftOut });
    },
  );
}

function registerOne(app: App, deps: HttpDeps): void {
  const answerIds = new AnswerIds(deps.secretKey);
  const keyOf = async (
    request: FastifyRequest,
    { deployment_id: ref, answer_id: answerId }: z.output<typeof requestParams>,
  ) => {
    const { id, name, orgId } = await find(deps, request, ref);
    const answered = answerIds.read(answerId);
    if (!answered || (ref !== name && answered.deploymentId !== id)) throw noTexts(answerId);
    return { orgId, name, key: { answerId, ...answered } };
  };

  app.get(
    `${base}/:answer_id`,
    {
      schema: {
        tags,
        operationId: 'getDeploymentRequest',
        summary: 'A request with its texts',
        params: requestParams,
        response: { 200: loggedRequestSchema, ...problems(404) },
      },
    },
    async (request) => {
      const { orgId, name, key } = await keyOf(request, request.params);
      const row = await deps.db.org(orgId, (tx) => readRequest(tx, name, key));
      if (!row) throw noTexts(key.answerId);
      return view(row, request.caller.keyId);
    },
  );

  app.delete(
    `${base}/:answer_id`,
    {
      schema: {
        tags,
        operationId: 'deleteDeploymentRequest',
        summary: 'Delete the texts of a request',
        description: 'Statistics and feedback stay.',
        params: requestParams,
        response: { 204: z.undefined().describe('Deleted.'), ...problems(404) },
      },
    },
    async (request, reply) => {
      const { orgId, name, key } = await keyOf(request, request.params);
      const isDeleted = await deps.db.org(orgId, (tx) => deleteRequest(tx, name, key));
      if (!isDeleted) throw noTexts(key.answerId);
      return reply.code(204).send();
    },
  );
}

async function searchedBy(
  deps: HttpDeps,
  request: FastifyRequest,
  ref: string,
  filter: FilterRequest,
): Promise<Searched & { name: string }> {
  const { id, name, orgId } = await find(deps, request, ref);
  return { orgId, name, scope: ref === name ? { name } : { deploymentId: id }, filter };
}

function view(row: StoredRequest, keyId: string | null): z.output<typeof loggedRequestSchema> {
  return {
    answer_id: row.answerId,
    deployment_id: row.deploymentId,
    at: row.at.toISOString(),
    outcome: row.outcome,
    code: row.code,
    provider: row.provider,
    model: row.model,
    latency_ms: row.latencyMs,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    cost_usd: row.costUsd,
    correlation_id: row.correlationId,
    reward: row.reward,
    corrected: row.corrected,
    reports: row.reports,
    reviews: row.reviews.map((review) => reviewView(review, keyId)),
    request: jsonOf(row.request),
    answer: jsonOf(row.answer),
  };
}

function jsonOf(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
}

function noTexts(answerId: string) {
  return refuse.notFound(`texts of the answer "${answerId.slice(0, 100)}"`);
}
