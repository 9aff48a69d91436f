import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { anywhere, createGate, leaveAtEnd, overloaded, type Gate, type Place } from './gate.js';

/** Admits model calls with an API key; those of containers are bounded by `max_concurrent`. */
export interface CallGate {
  /** Refuses a call that would only wait to be refused, before its body is read. */
  onRequest: onRequestHookHandler;
  /** A place until the reply is closed. A call that waits for its model holds none. */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<Place>;
}

/** More places would not make calls faster: they share one event loop. */
const bounds = { places: 16, burst: 256, standing: 4 };

export function createCallGate(gate: Gate = createGate(bounds)): CallGate {
  return {
    onRequest(request, _reply, done) {
      done(isGated(request) && gate.isFull() ? overloaded() : undefined);
    },
    async enter(request, reply) {
      if (!isGated(request)) return anywhere;
      const place = await gate.enter();
      leaveAtEnd(place, reply);
      return place;
    },
  };
}

const isGated = ({ caller }: FastifyRequest): boolean => caller.keyId !== null;
