import type { SpanContext } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TraceCall } from '../../../models/client/traced-call.js';
import type { Tracing } from '../../../tracing/tracing.js';

/** What a request for a model call is about; `of`: the span of the job that it works for. */
interface Subject {
  of: SpanContext | null;
  attributes: Record<string, string>;
}

/** Traces a request until its answer has ended. Returns the trace of its model calls. */
export function traceRequest(
  tracing: Tracing | null,
  request: FastifyRequest,
  reply: FastifyReply,
  { of, attributes }: Subject,
): TraceCall | null {
  if (!tracing) return null;
  const { traceparent } = request.headers;
  const span = tracing.request({
    method: request.method,
    route: request.routeOptions.url ?? '',
    startedAt: Date.now() - reply.elapsedTime,
    traceparent: typeof traceparent === 'string' ? traceparent : null,
    of,
    attributes,
  });
  reply.raw.once('close', () => span.end(reply.raw.statusCode));
  return span.calls;
}
