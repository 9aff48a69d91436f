import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeyRow } from '../../storage/access/keys.js';
import type { UsedQuota } from '../../storage/jobs/quota.js';
import type { HttpDeps } from '../deps.js';
import { createCallSlots, type CallLimit } from './call-slots.js';
import { ApiError } from './errors.js';
import { createRequestLimits, type RequestLimit } from './request-limits.js';

const field = (description: string) => ({ description, schema: { type: 'string' as const } });
/** The fields of answers to limited keys, for the OpenAPI document. */
export const limitHeaders = {
  'RateLimit-Policy': field('Limits of the key and its organization, such as `"key";q=600;w=60`. Absent: none.'),
  RateLimit: field('What is left of them, and the seconds until the minute ends, such as `"key";r=12;t=30`.'),
  'Retry-After': field('Seconds.'),
};

/** The limits of keys and organizations that requests meet before their handlers. */
export interface Limiter {
  /** Refuses a request beyond a limit, and shows what is left in the answer. */
  admit(key: KeyRow, request: FastifyRequest, reply: FastifyReply): Promise<void>;
  close(): Promise<void>;
}

export function createLimiter({ db, log }: Pick<HttpDeps, 'db' | 'log'>): Limiter {
  const requests = createRequestLimits(db);
  const slots = createCallSlots(db, log);
  return {
    async admit(key, request, reply) {
      const { limits, exceeded } = await requests.admit(key);
      if (exceeded) {
        void reply.headers(fieldsOf(limits, []));
        throw tooManyRequests(exceeded);
      }
      const isCall = request.method === 'POST' && request.routeOptions.config.access === 'inference';
      const calls = isCall ? await slots.take(key) : { limits: [], exceeded: null, release: () => undefined };
      if (limits.length + calls.limits.length > 0) void reply.headers(fieldsOf(limits, calls.limits));
      if (calls.exceeded) throw tooManyCalls(calls.exceeded);
      if (calls.limits.length === 0) return;
      if (reply.raw.destroyed) calls.release();
      else reply.raw.once('close', calls.release);
    },
    close: () => slots.close(),
  };
}

/** The fields of draft-ietf-httpapi-ratelimit-headers. */
function fieldsOf(requests: readonly RequestLimit[], calls: readonly CallLimit[]): Record<string, string> {
  const policies = [
    ...requests.map(({ of, limit }) => `"${of}";q=${limit};w=60`),
    ...calls.map(({ of, limit }) => `"${of}-calls";q=${limit};qu="concurrent-requests"`),
  ];
  const states = [
    ...requests.map(({ of, left, secondsLeft }) => `"${of}";r=${left};t=${secondsLeft}`),
    ...calls.map(({ of, left }) => `"${of}-calls";r=${left}`),
  ];
  return { 'ratelimit-policy': policies.join(', '), ratelimit: states.join(', ') };
}

function tooManyRequests({ of, limit, secondsLeft }: RequestLimit): ApiError {
  const detail = `The ${of} has had its ${limit} requests of this minute; retry in ${secondsLeft} s.`;
  return limitExceeded(detail, secondsLeft, { quota: 'requests_per_minute', of, limit });
}

function tooManyCalls({ of, limit }: CallLimit): ApiError {
  const detail = `The ${of} has as many model calls in flight as it may have (${limit}); retry when one has ended.`;
  return limitExceeded(detail, 1, { quota: 'calls_in_flight', of, limit });
}

function limitExceeded(detail: string, retryAfterS: number, extra: Record<string, unknown>): ApiError {
  return new ApiError(429, 'rate_limit_exceeded', detail, { headers: { 'retry-after': String(retryAfterS) }, extra });
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
