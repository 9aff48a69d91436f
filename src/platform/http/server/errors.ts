import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { AnswerCode } from '../../../contracts/errors/index.js';
import { exhaustedResource, isDataError, isTransient } from '../../db/postgres-errors.js';
import { shownRequestId } from '../request-ids.js';
import { anthropicError, errorFormOf, type ErrorForm } from '../error-forms.js';

/** A field's error; `pointer` is a JSON pointer (RFC 6901) into body, query or headers. */
export interface FieldError {
  pointer: string;
  message: string;
}

export interface ApiErrorOptions {
  errors?: FieldError[];
  headers?: Record<string, string>;
  /** Additional members of the problem document, such as `current_status`. */
  extra?: Record<string, unknown>;
  cause?: unknown;
}

/** A failure for the caller: status, code, and a detail with the remedy. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: AnswerCode;
  readonly errors: FieldError[];
  readonly headers: Record<string, string>;
  readonly extra: Record<string, unknown>;

  constructor(status: number, code: AnswerCode, detail: string, options: ApiErrorOptions = {}) {
    super(detail, { cause: options.cause });
    this.status = status;
    this.code = code;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
    this.extra = options.extra ?? {};
  }
}

const titles: Record<number, string> = {
  400: 'Bad request',
  401: 'Not authenticated',
  402: 'Budget used up',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Request timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'Body too large',
  415: 'Unsupported media type',
  421: 'Misdirected request',
  422: 'Invalid request',
  429: 'Too many requests',
  500: 'Internal error',
  502: 'Bad gateway',
  503: 'Service unavailable',
  504: 'Gateway timeout',
};

const types: Record<number, string> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
};

/** Error body of OpenAI's API. */
export interface OpenAiError {
  error: { message: string; type: string; code: string; param: string | null };
}

/** Renders a failure in OpenAI's shape. */
export function openAiError(error: ApiError): OpenAiError {
  const type = types[error.status] ?? (error.status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message: error.message, type, code: error.code, param: paramOf(error) } };
}

/** Renders a failure as an RFC 9457 problem with OpenAI's `error`. */
export function problem(error: ApiError, request: { url: string; id: string }): Record<string, unknown> {
  return {
    type: `urn:ratchet:problem:${error.code}`,
    title: titles[error.status] ?? 'Error',
    status: error.status,
    detail: error.message,
    instance: request.url.split('?', 1)[0],
    code: error.code,
    request_id: request.id,
    ...(error.errors.length > 0 ? { errors: error.errors } : {}),
    ...error.extra,
    ...openAiError(error),
  };
}

function paramOf(error: ApiError): string | null {
  const pointer = error.errors[0]?.pointer;
  if (!pointer) return null;
  return pointer.slice(1).split('/').map(unescapePointer).join('.');
}

const unescapePointer = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~');

/** The JSON pointer of a path. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A failure as media type and body, in the form of the API that was called. */
export function renderError(error: ApiError, form: ErrorForm, request: { url: string; id: string }) {
  if (form === 'problem') {
    return { type: 'application/problem+json; charset=utf-8', body: JSON.stringify(problem(error, request)) };
  }
  const body = openAiError(error);
  return {
    type: 'application/json; charset=utf-8',
    body: JSON.stringify(form === 'openai' ? body : anthropicError(error.status, body.error)),
  };
}

/** Sends a failure in the shape of its path. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: ApiError): FastifyReply {
  const form = formOf(request);
  if (error.status === 429 || error.status === 503) void reply.header('retry-after', '1');
  if (form !== 'problem' && error.status === 409) void reply.header('x-should-retry', 'false');
  for (const [name, value] of Object.entries(error.headers)) void reply.header(name, value);
  const { url } = request;
  const { type, body } = renderError(error, form, { url, id: shownRequestId(request) });
  return reply.code(error.status).type(type).send(body);
}

/** The form of a request's errors: its route's, else that of what lies below the same prefix. */
function formOf({ routeOptions: { config }, url }: FastifyRequest): ErrorForm {
  if (config.access !== 'inference') return errorFormOf(url);
  return config.form === 'messages' ? 'anthropic' : 'openai';
}

/** Common refusals. */
export const refuse = {
  notFound: (what: string) => new ApiError(404, 'not_found', `No ${what} found for this key.`),
  invalid: (errors: FieldError[], code: AnswerCode = 'validation_failed') =>
    new ApiError(422, code, describeErrors(errors), { errors }),
};

/** Maximum number of listed faults of a request. */
export const listed = 20;

function describeErrors(errors: FieldError[]): string {
  const shown = errors.slice(0, 3).map(({ pointer, message }) => {
    const text = message.replace(/\.$/, '');
    const field = pointer.slice(1).split('/').map(unescapePointer).join('.');
    return field ? `${field}: ${text}` : `The body ${text}`;
  });
  return shown.join('; ') + (errors.length > 3 ? `; and ${errors.length - 3} more` : '') + '.';
}

const known: Record<string, [status: number, code: AnswerCode, detail: string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: [413, 'body_too_large', 'The body exceeds the limit of this path.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [415, 'unsupported_media_type', 'Send the body as application/json.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'bad_request', 'The body does not match Content-Length.'],
  FST_ERR_MAX_PARAM_LENGTH: [404, 'not_found', 'Unknown path: no id is that long.'],
  FST_ERR_BAD_URL: [400, 'bad_url', 'The path is not a valid URL path.'],
  EMFILE: [503, 'over_capacity', 'The service has no free file descriptor; repeat the request.'],
  ENFILE: [503, 'over_capacity', 'The machine of the service has no free file descriptor; repeat the request.'],
  ENOSPC: [503, 'over_capacity', 'The disk for temporary files is full; repeat the request.'],
};

/** Maps any error to a failure for the caller; internal errors show their text in the log only. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const error = thrown as Partial<FastifyError>;
  const entry = known[error.code ?? ''];
  if (entry) return new ApiError(...entry, { cause: thrown });
  if (isTransient(thrown)) {
    const exhausted = exhaustedResource(thrown);
    const detail = exhausted
      ? `The database is out of ${exhausted}; retry.`
      : 'The database is unreachable or busy; retry.';
    return new ApiError(503, 'database_unavailable', detail, { cause: thrown });
  }
  if (isDataError(thrown)) {
    return new ApiError(422, 'value_out_of_range', 'A value is out of range.', { cause: thrown });
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new ApiError(error.statusCode, 'bad_request', error.message ?? 'Bad request.', {
      cause: thrown,
    });
  }
  return new ApiError(500, 'internal', 'Internal error; quote the request id when you report it.', {
    cause: thrown,
  });
}
