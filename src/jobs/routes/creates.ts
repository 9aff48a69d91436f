/** A new job, from a request or from that of another job, with changes. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { createQuerySchema, noQuerySchema } from '../../contracts/common.js';
import { dryRunSchema } from '../../contracts/dry-run.js';
import { branchQuerySchema, jobRequestSchema, requestQuerySchema } from '../../contracts/job-request.js';
import { jobKinds } from '../../core/jobs/kinds.js';
import type { RowsSpec } from '../../core/jobs/spec.js';
import { valueAt } from '../../contracts/validation.js';
import { readSecret, UnreadableSecretError } from '../../access/store/secrets.js';
import { readDataset } from '../../datasets/store/datasets.js';
import type { Tx } from '../../platform/db/db.js';
import { readBranches } from '../store/parents.js';
import { readRequest, readSpec } from '../store/spec.js';
import type { JobRow } from '../store/jobs.js';
import { mergePatch } from '../../util/merge-patch.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { ApiError, pointerOf, refuse } from '../../platform/http/server/errors.js';
import { readForm, refusalAsSent, type ReadBody } from '../../platform/http/server/forms.js';
import { bodyProblems, idempotencyHeader, problems, validateBody } from '../../platform/http/server/schema.js';
import { create, type Creation } from './create.js';
import type { Again, CreateBody, CreateRoute, HttpKind, JobRoute } from './kind.js';
import { labelsOf } from './labels.js';
import { idFields, iso, originView } from './view.js';

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

/** A job of a validated body, and its answer. Throws with the invalid fields. */
export async function creationOf(
  deps: HttpDeps,
  { kind, create: route }: Pick<HttpKind, 'kind' | 'create'>,
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
  const { bodyLimit, created, branch } = kind.create;
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
        querystring: branch ? branchQuerySchema : createQuerySchema,
        headers: idempotencyHeader,
        body: patchSchema,
        response: { 200: dryRunSchema, 201: created, ...bodyProblems(404, 409) },
      },
    },
    async (request, reply) => {
      const job = await find(request);
      const candidateId = candidateOf(request);
      const { read, warnings } = await clonedBody(deps, job, { candidateId, patch: request.body ?? {} }, kind.create);
      const creation = await creationOf(deps, kind, request, read);
      return create(deps, request, reply, {
        ...creation,
        warnings: [...warnings, ...creation.warnings],
        branchedFrom: { jobId: job.jobId, candidateId: candidateId ?? null },
      });
    },
  );
}

export function registerRequest(app: App, deps: HttpDeps, route: JobRoute, kind: HttpKind): void {
  const { path, params, tags, name, noun, find } = route;
  app.get(
    `${path}/request`,
    {
      schema: {
        tags,
        operationId: `get${name}Request`,
        summary: `The request of ${noun}, to send again`,
        params,
        querystring: kind.create.branch ? requestQuerySchema : noQuerySchema,
        response: { 200: jobRequestSchema, ...problems(404, 409, 422) },
      },
    },
    async (request) => {
      const job = await find(request);
      return deps.db.org(job.orgId, (tx) => readRequestView(tx, job, candidateOf(request), kind.create));
    },
  );
}

const candidateOf = ({ query }: FastifyRequest) => (query as { candidate_id?: string }).candidate_id;

async function readRequestView(
  tx: Tx,
  job: JobRow,
  candidateId: string | undefined,
  route: CreateRoute,
): Promise<z.output<typeof jobRequestSchema>> {
  const again = await requestAgain(tx, job, candidateId, route);
  const { keyPath } = route;
  const { rows } = job.spec;
  const dataset = rows && (await readDataset(tx, rows.datasetId));
  return {
    job_id: job.jobId,
    request: again?.request ?? null,
    omitted: [
      ...(keyPath && job.spec.container?.hasApiKey ? [pointerOf(keyPath)] : []),
      ...(job.webhook ? ['/webhook_url'] : []),
    ],
    dataset: dataset ? { dataset_id: dataset.id, name: dataset.name, num_rows: dataset.numRows } : null,
    prompt: again?.prompt ?? route.promptOf(await readSpec(tx, job.jobId)),
    branched_from: originView(job.branchedFrom),
    branches: (await readBranches(tx, job.jobId)).map(({ jobId, name, status, candidateId: candidate, createdAt }) => ({
      job_id: jobId,
      name,
      status,
      candidate_id: candidate,
      created_at: iso(createdAt),
    })),
  };
}

/** The request of a job with its labels, and a candidate as first prompt; null: none made it. */
async function requestAgain(
  tx: Tx,
  job: JobRow,
  candidateId: string | undefined,
  { branch }: CreateRoute,
): Promise<Again | null> {
  const stored = await readRequest(tx, job.jobId);
  if (!stored) return null;
  const { name, tags, metadata, notes } = job;
  const labels = { ...(name !== null && { name }), tags, metadata, ...(notes !== null && { notes }) };
  const request = { ...stored, ...labels };
  return branch && candidateId !== undefined
    ? branch(tx, job, candidateId, request)
    : { request, prompt: null, warnings: [] };
}

/** The body of the create: the request of the job, merged with the patch, validated. */
async function clonedBody(
  { db, secretKey }: HttpDeps,
  job: JobRow,
  { candidateId, patch }: { candidateId: string | undefined; patch: object },
  route: CreateRoute,
): Promise<{ read: ReadBody; warnings: string[] }> {
  const { keyPath } = route;
  const { again, merged } = await db.org(job.orgId, async (tx) => {
    const again = await requestAgain(tx, job, candidateId, route);
    if (!again) throw notCloneable();
    const merged = mergePatch(again.request, patch);
    const needsKey = keyPath && job.spec.container?.hasApiKey && valueAt(patch, ...keyPath) === undefined;
    return { again, merged: needsKey ? await withKey(tx, secretKey, job, merged, keyPath) : merged };
  });
  const read = readCreate(route, merged);
  if ('error' in read) throw read.error;
  return { read: read.value, warnings: again.warnings };
}

/** Adds the container's key of the job, which is kept while it runs, for the same origin. */
async function withKey(tx: Tx, secretKey: Buffer, { orgId, jobId }: JobRow, merged: unknown, keyPath: string[]) {
  const url = valueAt(merged, ...keyPath.slice(0, -1), 'container_url');
  if (typeof url !== 'string' || !URL.canParse(url)) return merged;
  const { origin } = new URL(url);
  const key = await readSecret(tx, secretKey, { orgId, jobId, name: 'container_api_key', origin }).catch(
    (error: unknown) => {
      if (error instanceof UnreadableSecretError) return null;
      throw error;
    },
  );
  if (key !== null)
    return mergePatch(
      merged,
      keyPath.reduceRight<unknown>((value, name) => ({ [name]: value }), key),
    );
  const message =
    'is required: the key of the other job is copied only while that job runs, and only for the same origin; null: the container needs none';
  throw refuse.invalid([{ pointer: pointerOf(keyPath), message }]);
}

function notCloneable(): ApiError {
  const detail =
    'No request made this job: it belongs to the gate of a deployment, to a migration or to a checkup, it is a try of a graph, or it evaluates a prompt without an edit. Create one of its kind instead.';
  return new ApiError(409, 'not_cloneable', detail);
}
