/** Ended spans for the serializers of OpenTelemetry. */
import { SpanKind, SpanStatusCode, type HrTime, type SpanStatus } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { EndedSpan } from './spans.js';

export const scope = 'ratchet';

export function statusOf(error: string | null): SpanStatus {
  return { code: error === null ? SpanStatusCode.UNSET : SpanStatusCode.ERROR };
}

/** `version`: of the service that made the spans; absent: unknown. */
type Origin = Pick<ReadableSpan, 'resource'> & { version?: string };

export function readableOf(span: EndedSpan, { resource, version }: Origin): ReadableSpan {
  const { name, context, parentId, startMs, endMs, error, attributes, isClient } = span;
  const ms = Math.max(0, endMs - startMs);
  return {
    name,
    kind: isClient ? SpanKind.CLIENT : SpanKind.INTERNAL,
    resource,
    instrumentationScope: { name: scope, ...(version !== undefined && { version }) },
    spanContext: () => context,
    ...(parentId !== null && { parentSpanContext: { ...context, spanId: parentId } }),
    startTime: millisToHrTime(startMs),
    endTime: millisToHrTime(startMs + ms),
    duration: millisToHrTime(ms) as HrTime,
    status: statusOf(error),
    attributes: { ...attributes, ...(error !== null && { 'error.type': error }) },
    links: [],
    events: [],
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}
