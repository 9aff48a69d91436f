import type { FastifyReply } from 'fastify';
import type { KeyRow } from '../../storage/access/keys.js';
import type { UsedQuota } from '../../storage/jobs/quota.js';
import type { HttpDeps } from '../deps.js';
import { ApiError } from './errors.js';
import { createRequestLimits, type RequestLimit } from './request-limits.js';

const field = (description: string) => ({ description, schema: { type: 'string' as const } });
/** The fields of answers to limited keys, for the OpenAPI document. */
export const limitHeaders = {
  'RateLimit-Policy': field('Limits of the key and its organization, such as `"key";q=600;w=60`. Absent: none.'),
  RateLimit: field('What is left of them, and the seconds until the minute ends, such as `"key";r=12;t=30`.'),
  'Retry-After': field('Seconds.'),
};

/** Refuses requests beyond the limits of a key and its organization, and shows what is left. */
export function createLimiter({ db }: Pick<HttpDeps, 'db'>): (key: KeyRow, reply: FastifyReply) => Promise<void> {
  const requests = createRequestLimits(db);
  return async (key, reply) => {
    const { limits, exceeded } = await requests.admit(key);
    if (limits.length > 0) void reply.headers(fieldsOf(limits));
    if (exceeded) throw tooManyRequests(exceeded);
  };
}

/** The fields of draft-ietf-httpapi-ratelimit-headers. */
function fieldsOf(limits: readonly RequestLimit[]): Record<string, string> {
  return {
    'ratelimit-policy': limits.map(({ of, limit }) => `"${of}";q=${limit};w=60`).join(', '),
    ratelimit: limits.map(({ of, left, secondsLeft }) => `"${of}";r=${left};t=${secondsLeft}`).join(', '),
  };
}

function tooManyRequests({ of, limit, secondsLeft }: RequestLimit): ApiError {
  return new ApiError(
    429,
    'rate_limit_exceeded',
    `The ${of} has had its ${limit} requests of this minute; retry in ${secondsLeft} s.`,
    {
      headers: { 'retry-after': String(secondsLeft) },
      extra: { quota: 'requests_per_minute', of, limit },
    },
  );
}

/** The refusal of a request beyond a quota; `detail` follows "The key" or "The organization". */
export function quotaExceeded(
  orgId: string,
  { subject, limit, used }: UsedQuota,
  { quota, detail, retryAfterS }: { quota: string; detail: string; retryAfterS: number },
): ApiError {
  const of = subject === orgId ? 'organization' : 'key';
  return new ApiError(429, 'quota_exceeded', `The ${of} ${detail}`, {
    headers: { 'retry-after': String(retryAfterS) },
    extra: { quota, of, limit, used },
  });
}
