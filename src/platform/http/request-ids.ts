import type { FastifyRequest } from 'fastify';
import type { App } from './deps.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The service's own id, and the one that the caller chose. */
    readonly ids: { requestId: string; clientRequestId: string | null };
  }
}

/**
 * A request has an id of the service's own (`request.id`), by which records tell requests apart.
 * Answers show the caller's in its place, if it sent one.
 */
export function registerRequestIds(app: App): void {
  app.decorateRequest('ids', {
    getter() {
      return { requestId: this.id, clientRequestId: clientRequestId(this.headers) };
    },
  });
}

/** The caller's request id if it is valid in a header and a log line. */
export function clientRequestId({ 'x-request-id': given }: FastifyRequest['raw']['headers']): string | null {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : null;
}

/** The id that answers show. */
export const shownRequestId = ({ id, headers }: Pick<FastifyRequest, 'id' | 'headers'>): string =>
  clientRequestId(headers) ?? id;
