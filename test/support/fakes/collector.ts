import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { listen } from '../loopback.js';

/** A span as the collector received it; ids as hex, '' without a parent; times in milliseconds. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentId: string;
  name: string;
  /** 1: internal, 2: server, 3: client. */
  kind: number;
  startMs: number;
  endMs: number;
  /** 2: error. */
  status: number;
  attributes: Record<string, unknown>;
  /** Attributes of the process. */
  resource: Record<string, unknown>;
}

/** A collector of OpenTelemetry: a real server for OTLP over HTTP with protobuf. */
export interface FakeCollector {
  url: string;
  spans: CollectedSpan[];
  /** Bodies of the requests as text, in which a leaked secret would be found. */
  bodies: string[];
  headers: IncomingHttpHeaders[];
  /** Status of further answers; default 200. */
  answer(status: number): void;
  close(): Promise<void>;
}

export async function startFakeCollector(port = 0): Promise<FakeCollector> {
  const collected: Pick<FakeCollector, 'spans' | 'bodies' | 'headers'> = { spans: [], bodies: [], headers: [] };
  let status = 200;
  const server = createServer((request, response) => {
    void buffer(request).then((sent) => {
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      collected.headers.push(request.headers);
      collected.bodies.push(body.toString('latin1'));
      const isTraces = request.method === 'POST' && request.url === '/v1/traces';
      if (isTraces && status === 200) collected.spans.push(...spansOf(body));
      response.writeHead(isTraces ? status : 404, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  const { url, close } = await listen(server, port);
  return { url, ...collected, answer: (next) => (status = next), close };
}

/** A field of a protobuf message: its number, and the bytes or the number. */
type Field = readonly [number: number, value: Buffer | bigint];

function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const key = Number(varint());
    const [number, type] = [key >> 3, key & 7];
    if (type === 0) fields.push([number, varint()]);
    else {
      const length = type === 1 ? 8 : type === 5 ? 4 : Number(varint());
      const bytes = message.subarray(at, at + length);
      at += length;
      fields.push([number, bytes]);
    }
  }
  return fields;
}

function messagesIn(message: Buffer, wanted: number): Buffer[] {
  return fieldsOf(message).flatMap(([number, value]) => (number === wanted ? [value as Buffer] : []));
}

function bytesIn(message: Buffer, wanted: number): Buffer {
  return messagesIn(message, wanted)[0] ?? Buffer.alloc(0);
}

/** ExportTraceServiceRequest > ResourceSpans > ScopeSpans > Span. */
function spansOf(request: Buffer): CollectedSpan[] {
  return messagesIn(request, 1).flatMap((ofResource) => {
    const resource = attributesIn(bytesIn(ofResource, 1), 1);
    const spans = messagesIn(ofResource, 2).flatMap((ofScope) => messagesIn(ofScope, 2));
    return spans.map((span) => ({
      traceId: bytesIn(span, 1).toString('hex'),
      spanId: bytesIn(span, 2).toString('hex'),
      parentId: bytesIn(span, 4).toString('hex'),
      name: bytesIn(span, 5).toString(),
      kind: Number(fieldsOf(span).find(([number]) => number === 6)?.[1] ?? 0),
      startMs: millisecondsOf(bytesIn(span, 7)),
      endMs: millisecondsOf(bytesIn(span, 8)),
      status: Number(fieldsOf(bytesIn(span, 15)).find(([number]) => number === 3)?.[1] ?? 0),
      attributes: attributesIn(span, 9),
      resource,
    }));
  });
}

function millisecondsOf(nanoseconds: Buffer): number {
  return Number(nanoseconds.readBigUInt64LE() / 1_000_000n);
}

function attributesIn(message: Buffer, number: number): Record<string, unknown> {
  const pairs = messagesIn(message, number);
  return Object.fromEntries(pairs.map((pair) => [bytesIn(pair, 1).toString(), valueOf(bytesIn(pair, 2))]));
}

/** AnyValue: a string, a boolean, an integer, a double or an array. */
function valueOf(any: Buffer): unknown {
  const [[number, value] = [1, Buffer.alloc(0)] as const] = fieldsOf(any);
  if (typeof value === 'bigint') return number === 2 ? value === 1n : Number(BigInt.asIntN(64, value));
  if (number === 4) return value.readDoubleLE();
  return number === 5 ? messagesIn(value, 1).map(valueOf) : value.toString();
}
