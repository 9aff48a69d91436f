import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App, HttpDeps } from '../deps.js';
import { jobKinds } from '../../core/jobs/kinds.js';
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
  calls: { permits: 8, burst: 256, burstWaitMs: 100, lastingWaitMs: 25 },
  creates: { permits: 16, burst: 256, burstWaitMs: 5_000, lastingWaitMs: 250 },
};

const callPath = /\/chat\/completions(?:\?|$)/;
const jobPaths = Object.values(jobKinds).map(({ path }) => path);
const createPath = new RegExp(`^(?:${jobPaths.join('|')})(?:/[^/]+/(?:extend|clone))?(?:\\?|$)`);

/** Bounds the model calls with an API key, and the creates, that a process works on at a time. */
export function registerAdmission(app: App, { observe }: Pick<HttpDeps, 'observe'>): void {
  const [calls, creates] = [createGate(bounds.calls), createGate(bounds.creates)];
  const gateOf = (request: IncomingMessage): Gate | null => {
    const { method, url = '' } = request;
    if (method !== 'POST') return null;
    if (createPath.test(url)) return creates;
    return callPath.test(url) && !isContainer(request) ? calls : null;
  };

  const refuseLater = createDelay();
  // Before any other work: under overload most requests are refused.
  const handlers = app.server.listeners('request') as ((...args: [IncomingMessage, ServerResponse]) => void)[];
  app.server.removeAllListeners('request');
  app.server.on('request', (request, response) => {
    const gate = gateOf(request);
    if (!gate?.refuses()) {
      for (const handle of handlers) handle.call(app.server, request, response);
      return;
    }
    observe?.('POST', 'over capacity', 503, 0);
    refuseLater(() => refuse(request, response, gate === calls));
  });

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

function refuse({ url = '', headers }: IncomingMessage, response: ServerResponse, openAi: boolean): void {
  const error = overloaded();
  const id = randomUUID();
  const { type, body } = renderError(error, openAi, { url, id });
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
