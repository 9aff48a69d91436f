/** One example of each failure, which all operations share. */
import { anthropicError } from '../error-forms.js';
import { ApiError, openAiError, problem, refuse } from '../server/errors.js';

export const failureSchemas = ['Problem', 'OpenAiError', 'AnthropicError'] as const;
type FailureSchema = (typeof failureSchemas)[number];

const session = '/api/v1/online/sessions/ses_00000000000000000000000000000001';
const requestId = '00000000-0000-0000-0000-000000000001';
const missingScope = 'The API key lacks the scope "write"; use a key that has it.';
const usedUp = 'The key has had its 600 requests of this minute; retry in 12 s.';

const failures: readonly ApiError[] = [
  new ApiError(400, 'malformed_json', 'The body is not valid JSON: Unexpected end of JSON input'),
  new ApiError(401, 'unauthorized', 'Send the API key as `Authorization: Bearer <key>` or `X-API-Key: <key>`.'),
  new ApiError(402, 'budget_exhausted', 'budget.max_cost_usd is exhausted: the rest does not cover this call.'),
  new ApiError(403, 'missing_scope', missingScope, { extra: { required_scope: 'write' } }),
  refuse.notFound('session ses_00000000000000000000000000000001'),
  new ApiError(408, 'body_timeout', 'The body did not arrive within 20 s; send it faster or shorter.'),
  new ApiError(409, 'invalid_state', 'The job is completed and cannot be paused.', {
    extra: { current_status: 'completed' },
  }),
  new ApiError(410, 'expired', 'The traces of this job were deleted because of their age (RATCHET_KEEP_TRACES_DAYS).'),
  new ApiError(413, 'body_too_large', 'The body exceeds the limit of this path.'),
  new ApiError(415, 'unsupported_media_type', 'Send the body as application/json.'),
  refuse.invalid([{ pointer: '/policy/model', message: 'is required' }]),
  new ApiError(429, 'rate_limit_exceeded', usedUp, { extra: { quota: 'requests_per_minute', of: 'key', limit: 600 } }),
  new ApiError(502, 'upstream_unreachable', 'The provider "openai" cannot be reached (ECONNREFUSED).'),
  new ApiError(503, 'database_unavailable', 'The database is unreachable or busy; retry.'),
  new ApiError(504, 'upstream_timeout', 'The provider "openai" gave no answer within 600 s.'),
];

/** The examples by name. */
export const failureExamples = new Map<string, { value: object }>(
  failures.flatMap((error) => [
    [nameOf(error.status, 'Problem'), { value: problem(error, { url: session, id: requestId }) }] as const,
    [nameOf(error.status, 'OpenAiError'), { value: openAiError(error) }] as const,
    [
      nameOf(error.status, 'AnthropicError'),
      { value: anthropicError(error.status, openAiError(error).error) },
    ] as const,
  ]),
);

export function nameOf(status: number | string, schema: FailureSchema): string {
  return `${schema}${status}`;
}
