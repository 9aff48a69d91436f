/** POST …/clone: a new job from the request of another, with changes. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { noQuerySchema } from '../../contracts/common.js';
import type { RowsSpec } from '../../core/jobs/spec.js';
import { valueAt } from '../../contracts/validation.js';
import { readRequest } from '../../storage/jobs/spec.js';
import type { JobRow } from '../../storage/jobs/jobs.js';
import { mergePatch } from '../../util/merge-patch.js';
import type { App, HttpDeps } from '../deps.js';
import { ApiError, pointerOf, refuse } from '../server/errors.js';
import { fromIssues } from '../server/faults.js';
import { bodyProblems, idempotencyHeader, parseRequest } from '../server/schema.js';

/** How jobs of a kind are created again. */
export interface CloneRoute {
  schemaFor(body: unknown): z.ZodType;
  /** The answer of a create. */
  created: z.ZodType;
  bodyLimit?: number;
  /** Where a container's key stands in a request; absent: the kind has no container. */
  keyPath?: string[];
  /** Creates a job from a validated body. */
  create(request: FastifyRequest, reply: FastifyReply, body: unknown): Promise<FastifyReply>;
}

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

export function registerClone(
  app: App,
  deps: HttpDeps,
  route: {
    jobPath: string;
    params: z.ZodObject;
    noun: string;
    name: string;
    tags: string[];
    clone: CloneRoute;
    find(request: FastifyRequest): Promise<JobRow>;
  },
): void {
  const { clone, tags, params } = route;
  app.post(
    `${route.jobPath}/clone`,
    {
      ...(clone.bodyLimit !== undefined && { bodyLimit: clone.bodyLimit }),
      config: { idempotency: 'create' },
      schema: {
        tags,
        operationId: `clone${route.name}`,
        summary: `Create ${route.noun} from the request of another`,
        params,
        querystring: noQuerySchema,
        headers: idempotencyHeader,
        body: patchSchema,
        response: { 201: clone.created, ...bodyProblems(404, 409) },
      },
    },
    async (request, reply) => {
      const body = await clonedBody(deps, await route.find(request), request.body ?? {}, clone);
      return clone.create(request, reply, body);
    },
  );
}

/** The body of the create: request and labels of the job, merged with the patch, validated. */
async function clonedBody(deps: HttpDeps, job: JobRow, patch: object, clone: CloneRoute): Promise<unknown> {
  const stored = await deps.db.org(job.orgId, (tx) => readRequest(tx, job.jobId));
  if (!stored) {
    const detail = 'No request made this job: it belongs to the gate of a deployment. Create an evaluation instead.';
    throw new ApiError(409, 'not_cloneable', detail);
  }
  const { keyPath, schemaFor } = clone;
  if (keyPath && job.spec.container?.hasApiKey && valueAt(patch, ...keyPath) === undefined) {
    const message = 'is required: the key of the other job is not copied; null: the container needs none';
    throw refuse.invalid([{ pointer: pointerOf(keyPath), message }]);
  }
  const { name, tags, metadata, notes } = job;
  const labels = { ...(name !== null && { name }), tags, metadata, ...(notes !== null && { notes }) };
  const merged = mergePatch({ ...stored, ...labels }, patch);
  const schema = schemaFor(merged);
  const parsed = parseRequest(schema, merged);
  if (!parsed.success) throw fromIssues(parsed.error.issues, schema);
  return parsed.data;
}
