/** Spans as OTLP/JSON. Load it only where spans are written. */
import { resourceFromAttributes } from '@opentelemetry/resources';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { readableOf } from './readable.js';
import type { EndedSpan } from './spans.js';

// Without a version: the same spans give the same bytes after an upgrade.
const resource = resourceFromAttributes({ 'service.name': 'ratchet' });

/** An ExportTraceServiceRequest on a line of its own, as the collector's file receiver reads it. */
export function otlpJson(spans: readonly EndedSpan[]): string {
  const request = JsonTraceSerializer.serializeRequest(spans.map((span) => readableOf(span, { resource })));
  return `${Buffer.from(request!).toString()}\n`;
}
