import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App, HttpDeps } from '../deps.js';
import { openAiError, problem } from '../server/errors.js';
import { anywhere, createGate, leaveAtEnd, overloaded, type Gate, type Place } from './gate.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The place of a model call or of a create, once the body is there. */
    place: Place;
  }
}

/** More places would not make any of them faster: calls share one event loop, creates Temporal. */
const bounds = {
  calls: { places: 8, burst: 256, burstWaitMs: 100, lastingWaitMs: 25 },
  creates: { places: 16, burst: 256, burstWaitMs: 5_000, lastingWaitMs: 250 },
};

const callPath = /\/chat\/completions(?:\?|$)/;
const createPath =
  /^\/api\/(?:v1\/online\/sessions|v1\/offline\/jobs|graphgen\/jobs|harbor\/deployments)(?:\/[^/]+\/(?:extend|clone))?(?:\?|$)/;

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
  // Refuse what would only wait to be refused before any other work: there may be much of it.
  const handlers = app.server.listeners('request') as ((...args: [IncomingMessage, ServerResponse]) => void)[];
  app.server.removeAllListeners('request');
  app.server.on('request', (request, response) => {
    const gate = gateOf(request);
    if (!gate?.isFull()) {
      for (const handle of handlers) handle.call(app.server, request, response);
      return;
    }
    observe?.('POST', 'over capacity', 503, 0);
    refuseLater(() => refuse(request, response, gate === calls));
  });

  app.decorateRequest('place', null as unknown as Place);
  // The body is there: a slow sender holds no place.
  app.addHook('preHandler', (request, reply, done) => {
    const gate = gateOf(request.raw);
    if (!gate) {
      request.place = anywhere;
      return done();
    }
    gate.enter().then((place) => {
      request.place = place;
      leaveAtEnd(place, reply);
      done();
    }, done);
  });
  // Nor does a slow reader.
  app.addHook('onSend', (request, _reply, _payload, done) => {
    (request.place as Place | null)?.leave();
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
const dropped = 64 * 1024;

function refuse({ url = '', headers }: IncomingMessage, response: ServerResponse, speaksOpenAi: boolean): void {
  const error = overloaded();
  const id = randomUUID();
  const body = JSON.stringify(speaksOpenAi ? openAiError(error) : problem(error, { url, id }));
  const isDropped = Number(headers['content-length']) <= dropped;
  response
    .writeHead(error.status, {
      'content-type': speaksOpenAi ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'retry-after': '1',
      'x-request-id': id,
      ...(!isDropped && { connection: 'close' }),
    })
    .end(body);
}
