/** Calls operations of the OpenAPI document, and keeps each request and answer. */

export interface Operation {
  operationId: string;
  tags: string[];
  parameters?: { name: string; in: string; required?: boolean; example?: unknown }[];
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> };
  responses: Record<string, { description: string; content?: Record<string, Media>; links?: Record<string, object> }>;
}
export interface Media {
  schema: object;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { examples: Record<string, { value: unknown }> };
}

/** What the document shows of an operation. */
export interface Example {
  /** Of path and query, by name. */
  parameters?: Record<string, string>;
  /** The body by media type. */
  request?: Record<string, unknown>;
  /** The answers by status and media type. */
  responses: Record<string, Record<string, unknown>>;
}

interface Call {
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  type?: string;
  accept?: string;
  /** The expected status, if it is no success. */
  status?: number;
}

export function operationsOf({ paths }: Document) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

export class Recorder {
  /** By operation id. */
  readonly examples: Record<string, Example> = {};
  private readonly served: { url: string; apiKey: string };
  private readonly operations: Map<string, ReturnType<typeof operationsOf>[number]>;

  constructor(served: { url: string; apiKey: string }, document: Document) {
    this.served = served;
    this.operations = new Map(operationsOf(document).map((each) => [each.operation.operationId, each]));
  }

  /** Calls an operation and keeps request and answer; returns the answer. */
  async call<T = Record<string, unknown>>(operationId: string, call: Call = {}): Promise<T> {
    const { status, type, value } = await this.read(operationId, call);
    this.keep(operationId, call, status, type, value);
    return value as T;
  }

  /** Calls an operation and keeps nothing. */
  async peek<T>(operationId: string, call: Call = {}): Promise<T> {
    return (await this.read(operationId, call)).value as T;
  }

  /** Throws if the answer is no documented success. */
  private async read(operationId: string, call: Call) {
    const { path, method, operation } = this.operations.get(operationId)!;
    const response = await this.send(method, path, call);
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';', 1);
    const body = Buffer.from(await response.arrayBuffer());
    const isExpected = call.status === undefined ? response.ok : response.status === call.status;
    if (!isExpected || !operation.responses[response.status])
      throw new Error(`${operationId}: ${response.status} ${body.toString('utf8', 0, 2_000)}`);
    const text = type === 'application/zip' ? body : body.toString();
    const value: unknown = type.endsWith('json') ? JSON.parse(body.toString()) : text;
    return { status: String(response.status), type, value };
  }

  /** Sends a request; returns a response of any status. */
  send(method: string, path: string, { path: ids = {}, query, body, type, accept }: Call): Promise<Response> {
    const url = new URL(
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name]!)),
      this.served.url,
    );
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    return fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${this.served.apiKey}`,
        ...(body !== undefined && { 'content-type': type ?? 'application/json' }),
        ...(accept !== undefined && { accept }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  /** The first request of a media type, and the first answer of a status and media type, stay. */
  private keep(operationId: string, { path, query, body, type }: Call, status: string, answer: string, value: unknown) {
    const example = (this.examples[operationId] ??= { parameters: { ...path, ...query }, responses: {} });
    if (body !== undefined) example.request = { [type ?? 'application/json']: body, ...example.request };
    const answers = (example.responses[status] ??= {});
    if (!['', 'application/zip', 'text/html'].includes(answer)) answers[answer] ??= value;
  }
}
