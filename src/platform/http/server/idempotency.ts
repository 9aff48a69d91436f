import { createHmac } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  claim,
  releaseKey,
  storeAnswer,
  type IdempotentRequest,
  type KeyClaim,
  type StoredAnswer,
} from '../../../access/store/idempotency.js';
import { canonicalJson } from '../../../util/json.js';
import type { App, HttpDeps } from '../deps.js';
import { ApiError } from './errors.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's Idempotency-Key and fingerprint, or null. */
    idempotent: IdempotentRequest | null;
  }
  interface FastifyContextConfig {
    /**
     * `create`: the handler commits the key with its row; other POSTs but inference claim it around
     * the handler. `none`: the same content has the same result without a key.
     */
    idempotency?: 'create' | 'none';
  }
}

const keptHeaders = ['location'];

/**
 * Idempotency-Key on every POST but inference: the first response is stored and replayed. 429 and
 * 5xx are not stored, so that the request can be retried.
 */
export function registerIdempotency(app: App, { db, log, secretKey }: HttpDeps): void {
  const claimed = new WeakSet<FastifyRequest>();
  app.decorateRequest('idempotent', null);

  app.addHook('preValidation', (request, _reply, done) => {
    const key = request.headers['idempotency-key'];
    const { access, idempotency } = request.routeOptions.config;
    const keeps = request.method === 'POST' && !request.is404 && access !== 'inference' && idempotency !== 'none';
    if (!keeps || key === undefined) return done();
    request.idempotent = {
      orgId: request.caller.orgId,
      key: String(key),
      fingerprint: fingerprint(secretKey, request),
    };
    // The hash of a large body costs as much as its validation, which is next.
    setImmediate(done);
  });

  app.addHook('preHandler', (request, reply, done) => {
    const { idempotent } = request;
    if (!idempotent || request.routeOptions.config.idempotency === 'create') return done();
    db.org(idempotent.orgId, (tx) => claim(tx, idempotent))
      .then((found) => {
        const answer = answerOf(found);
        if (answer) return void replay(reply, answer);
        claimed.add(request);
        done();
      })
      .catch(done);
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    const { idempotent } = request;
    if (!idempotent || !claimed.has(request)) return done();
    const transient = reply.statusCode === 429 || reply.statusCode >= 500;
    db.org(idempotent.orgId, (tx) =>
      transient ? releaseKey(tx, idempotent) : storeAnswer(tx, idempotent, answerFrom(reply, payload)),
    )
      // The work is done and its answer must go out; the key is free again when its claim is taken
      // for abandoned.
      .catch((error: unknown) =>
        log.error({ err: error, request_id: request.id }, 'could not store a response under its Idempotency-Key'),
      )
      .finally(done);
  });
}

/** The response to replay; null for a new request. Throws in all other cases. */
export function answerOf(found: KeyClaim): StoredAnswer | null {
  switch (found.is) {
    case 'new':
      return null;
    case 'replay':
      return found.answer;
    case 'mismatch':
      throw new ApiError(
        422,
        'idempotency_key_reused',
        'This Idempotency-Key was used for another request; use a new key.',
        {
          errors: [{ pointer: '/idempotency-key', message: 'was used for another request' }],
        },
      );
    case 'in_flight':
      throw new ApiError(
        409,
        'request_in_flight',
        'The first request with this Idempotency-Key is still running; retry shortly.',
      );
  }
}

/** Replays the first response. */
export function replay(reply: FastifyReply, { status, headers, body }: StoredAnswer): FastifyReply {
  return reply
    .code(status)
    .headers({ ...headers, 'idempotency-replayed': 'true' })
    .type(status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(body));
}

function answerFrom(reply: FastifyReply, payload: unknown): StoredAnswer {
  const headers = keptHeaders.flatMap((name) => (reply.hasHeader(name) ? [[name, String(reply.getHeader(name))]] : []));
  return {
    status: reply.statusCode,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: typeof payload === 'string' && payload !== '' ? JSON.parse(payload) : null,
  };
}

/** A hash under the secret key: a body may contain a key that is short enough to be guessed. */
function fingerprint(secretKey: Buffer, { method, url, body }: FastifyRequest): Buffer {
  return createHmac('sha256', secretKey)
    .update(`${method} ${url}\n${canonicalJson(body)}`)
    .digest();
}
