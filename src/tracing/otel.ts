/** OpenTelemetry's SDK, which reads its settings itself. Load it only where a collector is set. */
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type SpanContext } from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import type { TraceCall } from '../models/client/traced-call.js';
import type { JobTrace } from '../core/jobs/trace.js';
import { modelCallAttributes, modelCallName, type CallAttributeOptions } from './model-call.js';
import { readableOf, scope, statusOf } from './readable.js';
import type { RequestSpan, TracedRequest, Tracing } from './tracing.js';

const stopMs = 3_000;

export interface TracingOptions extends CallAttributeOptions {
  version: string;
  log: Logger;
}

export function startTracing(options: TracingOptions): Tracing {
  const { version, log } = options;
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'ratchet', 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }));
  const exporter = loggedOnce(new OTLPTraceExporter(), log);
  const provider = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
  const tracer = provider.getTracer(scope, version);

  const callsOf = (parent: SpanContext | null): TraceCall | null => {
    if (!isSampled(parent)) return null;
    const context = trace.setSpanContext(ROOT_CONTEXT, parent);
    return (call) => {
      const { startedAt: startTime, error } = call;
      const attributes = modelCallAttributes(call, options);
      const span = tracer.startSpan(modelCallName(call), { kind: SpanKind.CLIENT, startTime, attributes }, context);
      span.setStatus(statusOf(error)).end();
    };
  };

  return {
    begin(traceparent): JobTrace {
      const caller = callerOf(traceparent);
      // Never ended, so never sent: it asks the sampler.
      const { traceId, traceFlags } = tracer.startSpan('job', {}, contextOf(caller)).spanContext();
      return { traceId, parentId: caller?.spanId ?? null, sampled: (traceFlags & 1) === 1 };
    },

    request({ method, route, startedAt, traceparent, of, attributes }: TracedRequest): RequestSpan {
      const caller = callerOf(traceparent);
      if (of && !isSampled(of)) return { calls: null, end: () => undefined };
      // A container may continue its job's trace, and no other.
      const isOfJob = of !== null && caller?.traceId === of.traceId;
      const parent = isOfJob ? { ...caller!, traceFlags: of.traceFlags } : (of ?? caller);
      const span = tracer.startSpan(
        `${method} ${route}`,
        {
          kind: SpanKind.SERVER,
          startTime: startedAt,
          attributes: { 'http.request.method': method, 'http.route': route, ...attributes },
        },
        contextOf(parent),
      );
      return {
        calls: callsOf(span.spanContext()),
        end(status) {
          span.setAttribute('http.response.status_code', status);
          if (status >= 500) span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },

    callsOf,

    async send(spans) {
      const readable = spans.map((span) => readableOf(span, { resource, version }));
      await new Promise<void>((resolve, reject) => {
        exporter.export(readable, ({ code, error }) =>
          code === ExportResultCode.SUCCESS ? resolve() : reject(error ?? new Error('The spans were not sent.')),
        );
      });
    },

    async stop() {
      const sent = provider.shutdown().catch(() => undefined);
      await Promise.race([sent, delay(stopMs, undefined, { ref: false })]);
    },
  };
}

function isSampled(context: SpanContext | null): context is SpanContext {
  return context !== null && (context.traceFlags & 1) === 1;
}

function callerOf(traceparent: string | null): SpanContext | null {
  const parsed = traceparent === null ? null : parseTraceParent(traceparent);
  return parsed && { ...parsed, isRemote: true };
}

function contextOf(parent: SpanContext | null) {
  return parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

/** Logs the first failure, and again the first one after a success. */
function loggedOnce(exporter: SpanExporter, log: Logger): SpanExporter {
  let isFailing = false;
  return {
    export(spans, onResult) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== ExportResultCode.SUCCESS;
        if (hasFailed && !isFailing)
          log.warn({ err: result.error }, 'the collector does not take traces; the service goes on without');
        isFailing = hasFailed;
        onResult(result);
      });
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}
