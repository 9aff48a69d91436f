import type { FastifySchemaCompiler } from 'fastify';
import { z } from 'zod';
import { problemSchema } from '../../contracts/common.js';
import { fromIssues } from './errors.js';

/** A field that is absent is required, whatever form it would have. */
export const missing = ({ code, input }: { code?: string; input?: unknown }) =>
  code?.startsWith('invalid_') && input === undefined ? 'is required' : undefined;

/** Validates by zod; what is wrong is told field by field. */
export const validate: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (data: unknown) => {
    const result = schema.safeParse(data, { error: missing });
    return result.success ? { value: result.data } : { error: fromIssues(result.error.issues) };
  };

/** Validates a body by the form that `choose` recognizes, so that what is wrong is told in the terms of that form. */
export function validateForm<Schema>(choose: (body: unknown) => z.ZodType): FastifySchemaCompiler<Schema> {
  return ({ schema, ...route }) =>
    (data: unknown) =>
      validate({ ...route, schema: route.httpPart === 'body' ? choose(data) : (schema as z.ZodType) })(data);
}

const causes = {
  400: 'The body is not JSON.',
  401: 'No key, or one that is not known.',
  404: 'Unknown, or of another organization.',
  409: "The job's status does not allow it, or a request with this Idempotency-Key is under way.",
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  422: 'A field is wrong; `errors` names it.',
  503: 'Draining, overloaded, or a part of the service cannot be reached; retry after `retry-after`.',
};
export type ErrorStatus = keyof typeof causes;

/** The documented failures of a route: those every route has, and `more`. */
export function problems(...more: ErrorStatus[]) {
  const entry = (status: ErrorStatus) => [
    status,
    { description: causes[status], content: { 'application/problem+json': { schema: problemSchema } } },
  ];
  return Object.fromEntries(([401, 503, ...more] as ErrorStatus[]).map(entry)) as Record<
    ErrorStatus,
    { description: string; content: { 'application/problem+json': { schema: typeof problemSchema } } }
  >;
}

/** The failures of a route that takes a body, beside `more`. */
export function bodyProblems(...more: ErrorStatus[]) {
  return problems(400, 413, 415, 422, ...more);
}

/** The header by which a request may be repeated safely. */
export const idempotencyHeader = z.looseObject({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
    .optional()
    .describe('The same key and body within 24 hours get the first answer again.'),
});

/** A stream of server-sent events, or a page of them as JSON. */
export function streamResponse<Page extends z.ZodType>(page: Page) {
  return {
    description: 'The events.',
    content: { 'text/event-stream': { schema: z.string() }, 'application/json': { schema: page } },
  };
}

export const archiveResponse = {
  description: 'One `<trace_id>.json` for each rollout.',
  content: { 'application/zip': { schema: z.string().meta({ format: 'binary' }) } },
};

export const sessionParams = z.object({ session_id: z.string() });
export const jobParams = z.object({ job_id: z.string() });
