import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import { holdSlots } from '../../../access/store/call-slots.js';
import type { KeyRow } from '../../../access/store/keys.js';
import type { Portion } from '../../../access/store/limits.js';
import { takeRequests } from '../../../access/store/request-windows.js';
import type { Db } from '../../db/db.js';
import type { UsedQuota } from '../../../access/store/quota.js';
import type { HttpDeps } from '../deps.js';
import { ApiError } from './errors.js';
import { SharedUses, type LimitState, type SharedLimit } from './shared-limits.js';

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

/** Requests in a minute of Postgres. */
const requestsPerMinute = (db: Pick<Db, 'orgApart'>): SharedLimit => ({
  name: 'requestsPerMinute',
  isHeld: false,
  take: (portion) => db.orgApart(portion.orgId, (tx) => takeRequests(tx, portion)),
});

/** Model calls at a time. */
export function callsInFlight(db: Pick<Db, 'orgBatch'>): SharedLimit {
  const holder = randomUUID();
  return {
    name: 'callsInFlight',
    isHeld: true,
    take: async (portion) => (await db.orgBatch(portion.orgId, holdSlots(portion, holder))).at(-1)![0] as Portion,
  };
}

export function createLimiter({ db, log }: Pick<HttpDeps, 'db' | 'log'>): Limiter {
  const requests = new SharedUses(requestsPerMinute(db), log);
  const calls = new SharedUses(callsInFlight(db), log);
  return {
    async admit(key, request, reply) {
      const { states, exceeded } = await requests.take(key);
      if (exceeded) {
        void reply.headers(fieldsOf(states, []));
        throw tooManyRequests(exceeded);
      }
      const isCall = request.method === 'POST' && request.routeOptions.config.access === 'inference';
      const taken = isCall ? await calls.take(key) : { states: [], exceeded: null, release: () => undefined };
      if (states.length + taken.states.length > 0) void reply.headers(fieldsOf(states, taken.states));
      if (taken.exceeded) throw tooManyCalls(taken.exceeded);
      if (taken.states.length === 0) return;
      if (reply.raw.destroyed) taken.release();
      else reply.raw.once('close', taken.release);
    },
    close: async () => void (await Promise.all([requests.close(), calls.close()])),
  };
}

/** The fields of draft-ietf-httpapi-ratelimit-headers. */
export function fieldsOf(requests: readonly LimitState[], calls: readonly LimitState[]): Record<string, string> {
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

function tooManyRequests({ of, limit, secondsLeft }: LimitState): ApiError {
  const detail = `The ${of} has had its ${limit} requests of this minute; retry in ${secondsLeft} s.`;
  return limitExceeded(detail, secondsLeft, { quota: 'requests_per_minute', of, limit });
}

function tooManyCalls({ of, limit }: LimitState): ApiError {
  const detail = `The ${of} has as many model calls in flight as it may have (${limit}); retry when one has ended.`;
  return limitExceeded(detail, 1, { quota: 'calls_in_flight', of, limit });
}

function limitExceeded(detail: string, retryAfterS: number, extra: Record<string, unknown>): ApiError {
  return new ApiError(429, 'rate_limit_exceeded', detail, { headers: { 'retry-after': String(retryAfterS) }, extra });
}

/** Jobs end, and are deleted, at any time. */
const quotaRetryS = 60;

/** The refusal of a request beyond a quota; `detail` follows "The key" or "The organization". */
export function quotaExceeded(
  orgId: string,
  { subject, limit, used }: UsedQuota,
  { quota, detail }: { quota: string; detail: string },
): ApiError {
  const of = subject === orgId ? 'organization' : 'key';
  return new ApiError(429, 'quota_exceeded', `The ${of} ${detail}`, {
    headers: { 'retry-after': String(quotaRetryS) },
    extra: { quota, of, limit, used },
  });
}
