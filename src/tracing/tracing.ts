import type { Attributes, SpanContext } from '@opentelemetry/api';
import type { TraceCall } from '../models/client/traced-call.js';
import type { JobTrace } from '../core/jobs/trace.js';
import type { EndedSpan } from './spans.js';

/** A request that is being answered. */
export interface TracedRequest {
  method: string;
  /** The route's pattern, without ids. */
  route: string;
  /** By `Date.now()`. */
  startedAt: number;
  /** The caller's `traceparent`; null: none. */
  traceparent: string | null;
  /** The span of a job that the request works for; null: it belongs to its caller alone. */
  of: SpanContext | null;
  attributes: Attributes;
}

export interface RequestSpan {
  /** Traces the model calls below it; null: not sampled. */
  calls: TraceCall | null;
  /** Call it once, with the HTTP status. */
  end(status: number): void;
}

/** The traces of a process; a process without a collector has none. */
export interface Tracing {
  /** The trace of a new job, by the caller's `traceparent` (null: none) and the sampler. */
  begin(traceparent: string | null): JobTrace;
  request(request: TracedRequest): RequestSpan;
  /** Traces model calls below a span; null: not sampled. */
  callsOf(parent: SpanContext | null): TraceCall | null;
  /** Sends spans at once. Rejects if the collector does not take them. */
  send(spans: readonly EndedSpan[]): Promise<void>;
  /** Sends what is left, for a limited time. */
  stop(): Promise<void>;
}
