import type { FastifyRequest } from 'fastify';
import type { App } from '../deps.js';
import { createGate, leaveAtEnd, overloaded } from './gate.js';

/** Creates wait for Postgres and Temporal, which all of them share. */
const creates = { places: 8, burst: 64, standing: 4 };

/** Admits creates, once their body is there, until they are answered. */
export function registerCreateGate(app: App): void {
  const gate = createGate(creates);
  app.addHook('onRequest', (request, _reply, done) => {
    done(isCreate(request) && gate.isFull() ? overloaded() : undefined);
  });
  app.addHook('preHandler', (request, reply, done) => {
    if (!isCreate(request)) return done();
    gate.enter().then((place) => {
      leaveAtEnd(place, reply);
      done();
    }, done);
  });
}

const isCreate = ({ routeOptions }: FastifyRequest): boolean => routeOptions.config.idempotency === 'create';
