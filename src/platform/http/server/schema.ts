import type { FastifySchemaCompiler } from 'fastify';
import { z } from 'zod';
import { problemSchema } from '../../../contracts/problem.js';
import { withoutNulls } from '../../../contracts/nulls.js';
import { nameFewFaults } from '../../../contracts/few-faults.js';
import { missing } from '../../../contracts/validation.js';
import { listed } from './errors.js';
import { fromIssues } from './faults.js';

/** Validates with zod; errors per field. In a body, null for an optional field is no field. */
export const validate: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (data: unknown) => {
    const result = parseRequest(schema, httpPart === 'body' ? withoutNulls(schema, data) : data);
    return result.success ? { value: result.data } : { error: fromIssues(result.error.issues, schema) };
  };

/** Reads a part of a request, whatever its size: a list names its first faults. */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, given: unknown) {
  nameFewFaults(schema, listed);
  return schema.safeParse(given, { error: missing });
}

/** Validates a body by code of its own; the other parts of a request as usual. */
export function validateBody<Schema>(read: ReturnType<FastifySchemaCompiler<Schema>>): FastifySchemaCompiler<Schema> {
  return ({ schema, ...part }) =>
    part.httpPart === 'body' ? read : validate({ ...part, schema: schema as z.ZodType });
}

const causes = {
  400: 'The body is not JSON.',
  401: 'Missing or unknown key.',
  403: 'The key lacks the scope `required_scope`.',
  404: 'Unknown, or owned by another organization.',
  409: "The job's status does not allow it, or a request with this Idempotency-Key is still running.",
  410: 'An age limit has deleted it.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  422: 'Invalid fields, listed in `errors`.',
  429: 'A limit of the key or its organization, or too many failed authentications from this address; see `retry-after`.',
  503: 'Draining, overloaded, or a part of the service is unreachable; retry after `retry-after`.',
};
export type ErrorStatus = keyof typeof causes;

/** Documented failures of a route: the common ones and `more`. */
export function problems(...more: ErrorStatus[]) {
  const entry = (status: ErrorStatus) => [
    status,
    { description: causes[status], content: { 'application/problem+json': { schema: problemSchema } } },
  ];
  return Object.fromEntries(([401, 403, 429, 503, ...more] as ErrorStatus[]).map(entry)) as Record<
    ErrorStatus,
    { description: string; content: { 'application/problem+json': { schema: typeof problemSchema } } }
  >;
}

/** Documented failures of a route with a body. */
export function bodyProblems(...more: ErrorStatus[]) {
  return problems(400, 413, 415, 422, ...more);
}

/** Header for safe retries. */
export const idempotencyHeader = z.looseObject({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
    .optional()
    .describe('The same key and body within 24 hours replay the first response.'),
});

/** Server-sent events, or a page of events as JSON. */
export function streamResponse<Stream extends z.ZodType, Page extends z.ZodType>(stream: Stream, page: Page) {
  return {
    description: 'The events.',
    // Generators take the first.
    content: { 'application/json': { schema: page }, 'text/event-stream': { schema: stream } },
  };
}

export const archiveResponse = {
  description: 'One `<trace_id>.json` for each rollout.',
  content: { 'application/zip': { schema: z.string().meta({ format: 'binary' }) } },
};

export const sessionParams = z.object({ session_id: z.string() });
export const jobParams = z.object({ job_id: z.string() });
