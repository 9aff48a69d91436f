import type { CollectedSpan } from './fakes/collector.js';
import { unzip } from './unzip.js';

interface Value {
  stringValue?: string;
  intValue?: number;
  doubleValue?: number;
  arrayValue?: { values: Value[] };
}
interface KeyValue {
  key: string;
  value: Value;
}
interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code: number };
  attributes: KeyValue[];
}
interface OtlpRequest {
  resourceSpans: { resource: { attributes: KeyValue[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}

/** The JSON traces of an archive, and its OTLP files by name as a collector would show them. */
export async function openTraces(zip: Buffer) {
  const entries = await unzip(zip);
  const otlp = entries.filter(({ name }) => name.startsWith('otlp/'));
  const files = new Map(otlp.map(({ name, text }) => [name, spansOf(JSON.parse(text) as OtlpRequest)]));
  const jsonEntries = entries.filter(({ name }) => !name.startsWith('otlp/'));
  return { names: entries.map(({ name }) => name), json: jsonEntries, files, spans: [...files.values()].flat() };
}

function spansOf({ resourceSpans }: OtlpRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId = '', name, kind, status, attributes, ...times }) => ({
        traceId,
        spanId,
        parentId: parentSpanId,
        name,
        kind,
        startMs: msOf(times.startTimeUnixNano),
        endMs: msOf(times.endTimeUnixNano),
        status: status.code,
        attributes: valuesOf(attributes),
        resource: valuesOf(resource.attributes),
      })),
    ),
  );
}

function msOf(nanoseconds: string): number {
  if (!/^\d{19}$/.test(nanoseconds)) throw new Error(`${nanoseconds} is no time in nanoseconds`);
  return Number(BigInt(nanoseconds) / 1_000_000n);
}

function valuesOf(pairs: KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf({ stringValue, intValue, doubleValue, arrayValue }: Value): unknown {
  return stringValue ?? intValue ?? doubleValue ?? arrayValue?.values.map(valueOf);
}
