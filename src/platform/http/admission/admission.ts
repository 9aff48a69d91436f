import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { FastifyServerFactory } from 'fastify';
import type { App, HttpDeps } from '../deps.js';
import { jobKinds } from '../../../core/jobs/kinds.js';
import { errorFormOf, isCallPath } from '../error-forms.js';
import { renderError } from '../server/errors.js';
import { ungated, createGate, releaseAtEnd, overloaded, type Gate, type Permit } from './gate.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The permit of a model call or of a create, once the body is there. */
    permit: Permit;
  }
}

/** More permits would not add throughput: calls share one event loop, creates share Temporal. */
const bounds = {
  calls: { permits: 8, burst: 2_048, shortWaitMs: 100, burstMs: 2_000, lastingWaitMs: 25 },
  creates: { permits: 16, burst: 256, shortWaitMs: 1_000, burstMs: 4_000, lastingWaitMs: 250 },
};

const jobPaths = Object.values(jobKinds).map(({ path }) => path);
const createPath = new RegExp(`^(?:${jobPaths.join('|')})(?:/[^/]+/(?:extend|clone))?(?:\\?|$)`);

/** Bounds the model calls with an API key, and the creates, that a process works on at a time. */
export interface Admission {
  /** Makes servers that refuse before any other work: under overload most requests are refused. */
  serverFactory: FastifyServerFactory;
  /** Gives each admitted request its permit. */
  register(app: App): void;
}

export function createAdmission({ observe }: Pick<HttpDeps, 'observe'>): Admission {
  const [calls, creates] = [createGate(bounds.calls), createGate(bounds.creates)];
  const gateOf = (request: IncomingMessage): Gate | null => {
    const { method, url = '' } = request;
    if (method !== 'POST') return null;
    if (createPath.test(url)) return creates;
    return isCallPath(url) && !isContainer(request) ? calls : null;
  };

  const refuseLater = createDelay();
  return {
    serverFactory(handle, options) {
      const { requestTimeout, keepAliveTimeout } = options as { requestTimeout: number; keepAliveTimeout: number };
      return createServer({ requestTimeout, keepAliveTimeout }, (request, response) => {
        const gate = gateOf(request);
        if (!gate?.refuses()) return handle(request, response);
        observe?.('POST', 'over capacity', 503, 0);
        refuseLater(() => refuse(request, response));
      });
    },
    register: (app) => registerPermits(app, gateOf),
  };
}

function registerPermits(app: App, gateOf: (request: IncomingMessage) => Gate | null): void {
  app.decorateRequest('permit', null as unknown as Permit);
  // The body is there: a slow sender holds no permit.
  app.addHook('preHandler', (request, reply, done) => {
    const gate = gateOf(request.raw);
    if (!gate) {
      request.permit = ungated;
      return done();
    }
    gate.acquire().then((permit) => {
      request.permit = permit;
      releaseAtEnd(permit, reply);
      done();
    }, done);
  });
  // Nor does a slow reader.
  app.addHook('onSend', (request, _reply, _payload, done) => {
    (request.permit as Permit | null)?.release();
    done();
  });
}

/** Whether a container asks, whose calls `max_concurrent` bounds. */
function isContainer({ headers }: IncomingMessage): boolean {
  return [headers.authorization, headers['x-api-key']?.toString()].some(
    (key) => key && /^(?:Bearer +)?rip_/i.test(key),
  );
}

const [shortestMs, longestMs] = [500, 1_500];
const mostDelayed = 5_000;

/**
 * A refusal that is sent at once would be followed at once by another request of its caller, and
 * refusals that are sent together by requests that come together.
 */
function createDelay(): (refuse: () => void) => void {
  let delayed = 0;
  return (refuse) => {
    if (delayed >= mostDelayed) return refuse();
    delayed += 1;
    setTimeout(
      () => {
        delayed -= 1;
        refuse();
      },
      shortestMs + Math.random() * (longestMs - shortestMs),
    );
  };
}

/** A larger body is not read. */
const maxDrainedBytes = 64 * 1024;

function refuse({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const error = overloaded();
  const id = randomUUID();
  const { type, body } = renderError(error, errorFormOf(url), { url, id });
  const isDrained = Number(headers['content-length']) <= maxDrainedBytes;
  response
    .writeHead(error.status, {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      'retry-after': '1',
      'x-request-id': id,
      ...(!isDrained && { connection: 'close' }),
    })
    .end(body);
}
