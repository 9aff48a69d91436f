/** A new job, from a request or from that of another job, with changes. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { createQuerySchema, noQuerySchema } from '../../contracts/common.js';
import { dryRunSchema } from '../../contracts/dry-run.js';
import { jobKinds } from '../../core/jobs/kinds.js';
import type { RowsSpec } from '../../core/jobs/spec.js';
import { valueAt } from '../../contracts/validation.js';
import { readRequest } from '../store/spec.js';
import type { JobRow } from '../store/jobs.js';
import { mergePatch } from '../../util/merge-patch.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { ApiError, pointerOf, refuse } from '../../platform/http/server/errors.js';
import { readForm, refusalAsSent, type ReadBody } from '../../platform/http/server/forms.js';
import { bodyProblems, idempotencyHeader, validateBody } from '../../platform/http/server/schema.js';
import { create, type Creation } from './create.js';
import type { CreateBody, CreateRoute, HttpKind, JobRoute } from './kind.js';
import { labelsOf } from './labels.js';
import { idFields } from './view.js';

const patchSchema = z
  .record(z.string(), z.unknown(), 'must be a JSON object, or absent')
  .nullish()
  .describe('A JSON merge patch (RFC 7396) of the request: null removes a field.');

/** A request as it is stored: without labels and secrets; inline rows by their data set. */
export function storedRequest(request: object, rows?: RowsSpec): object {
  const {
    name: _name,
    tags: _tags,
    metadata: _,
    notes: _notes,
    webhook_url: _webhook,
    container_api_key: _key,
    ...kept
  } = request as Record<string, unknown>;
  if (!rows) return kept;
  const { rows: _rows, ...dataset } = kept['dataset'] as Record<string, unknown>;
  return { ...kept, dataset: { ...dataset, dataset_id: rows.datasetId } };
}

export function registerCreate(app: App, deps: HttpDeps, route: JobRoute, kind: HttpKind): void {
  const { body, bodyLimit, created } = kind.create;
  app.post(
    route.base,
    {
      ...(bodyLimit !== undefined && { bodyLimit }),
      validatorCompiler: validateBody((sent) => readCreate(kind.create, sent)),
      config: { idempotency: 'create' },
      schema: {
        tags: route.tags,
        operationId: `create${route.name}`,
        summary: `Create ${route.noun}`,
        querystring: createQuerySchema,
        headers: idempotencyHeader,
        body,
        response: { 200: dryRunSchema, 201: created, ...bodyProblems(409) },
      },
    },
    async (request, reply) =>
      create(deps, request, reply, await creationOf(deps, kind, request, request.body as ReadBody)),
  );
}

const readCreate = ({ formOf, body: schema }: CreateRoute, sent: unknown) =>
  readForm(formOf?.(sent) ?? { schema, body: sent });

async function creationOf(
  deps: HttpDeps,
  { kind, create: route }: HttpKind,
  request: FastifyRequest,
  read: ReadBody,
): Promise<Creation> {
  const body = read.body as CreateBody;
  const asSent = (error: unknown): never => {
    throw refusalAsSent(error, read.moves);
  };
  const { correlationId = null, estimate, prepare, ...draft } = await route.draft(deps, request, body).catch(asSent);
  const { labels, warnings } = labelsOf(body);
  return {
    ...draft,
    prepare: prepare && ((tx) => prepare(tx).catch(asSent)),
    kind,
    labels,
    correlationId,
    warnings: [...warnings, ...draft.warnings],
    webhookUrl: body.webhook_url,
    algorithm: 'search' in draft.spec ? draft.spec.search.algorithm : null,
    location: (jobId) => `${jobKinds[kind].path}/${jobId}`,
    answer: ({ jobId, workflowId }) => ({
      ...idFields(jobId),
      status: draft.pending ? 'pending' : 'running',
      ...draft.answer?.(jobId),
      estimate,
      workflow_id: workflowId,
      temporal_url: deps.temporalUrl(workflowId),
    }),
  };
}

export function registerClone(app: App, deps: HttpDeps, route: JobRoute, kind: HttpKind): void {
  const { path, params, tags, name, noun, find } = route;
  const { bodyLimit, created } = kind.create;
  app.post(
    `${path}/clone`,
    {
      ...(bodyLimit !== undefined && { bodyLimit }),
      config: { idempotency: 'create' },
      schema: {
        tags,
        operationId: `clone${name}`,
        summary: `Create ${noun} from the request of another`,
        params,
        querystring: noQuerySchema,
        headers: idempotencyHeader,
        body: patchSchema,
        response: { 201: created, ...bodyProblems(404, 409) },
      },
    },
    async (request, reply) => {
      const body = await clonedBody(deps, await find(request), request.body ?? {}, kind.create);
      return create(deps, request, reply, await creationOf(deps, kind, request, body));
    },
  );
}

/** The body of the create: request and labels of the job, merged with the patch, validated. */
async function clonedBody({ db }: HttpDeps, job: JobRow, patch: object, route: CreateRoute): Promise<ReadBody> {
  const stored = await db.org(job.orgId, (tx) => readRequest(tx, job.jobId));
  if (!stored) {
    const detail =
      'No request made this job: it belongs to the gate of a deployment, to a migration or to a checkup, or it evaluates a prompt without an edit. Create one of its kind instead.';
    throw new ApiError(409, 'not_cloneable', detail);
  }
  const { keyPath } = route;
  if (keyPath && job.spec.container?.hasApiKey && valueAt(patch, ...keyPath) === undefined) {
    const message = 'is required: the key of the other job is not copied; null: the container needs none';
    throw refuse.invalid([{ pointer: pointerOf(keyPath), message }]);
  }
  const { name, tags, metadata, notes } = job;
  const labels = { ...(name !== null && { name }), tags, metadata, ...(notes !== null && { notes }) };
  const read = readCreate(route, mergePatch({ ...stored, ...labels }, patch));
  if ('error' in read) throw read.error;
  return read.value;
}
