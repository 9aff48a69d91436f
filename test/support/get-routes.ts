import { mapLimited } from '../../src/util/map-limited.js';
import { unzip } from './unzip.js';

interface Schema {
  $ref?: string;
  type?: string;
  enum?: string[];
  format?: string;
  minimum?: number;
}

interface Operation {
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[];
  responses: Record<string, unknown>;
}

/** The parts of an OpenAPI document that `walkGetRoutes` reads. */
interface OpenApi {
  paths: Record<string, { get?: Operation }>;
  components: { schemas: Record<string, Schema> };
}

interface Served {
  url: string;
  apiKey: string;
}

/** The ids of a parameter, given the path in front of it. */
export type Ids = (prefix: string) => Promise<readonly string[]> | readonly string[];

/** A GET request and the status codes that its route documents for a resource that exists. */
interface Request {
  route: string;
  url: string;
  expected: number[];
}

/** Statuses without a request in the walk: a wrong key, id or query, an unreachable database. */
const errors = ['401', '403', '404', '422', '503'];

/** Parameters of a page of outputs, which are refused without them. */
const ofOutputs = {
  path: /\/offline\/jobs\/[^/?]+\/results$/,
  names: ['limit', 'offset', 'group', 'expected', 'answered', 'other_answers', 'feedback', 'review', 'q'],
};

/** What a path of a search ends in that takes one of its candidates. */
const ofCandidates = /\/(rows|request)\b.*$/;

/** 404 for some ids: not every version is rolled out, and labels and versions are of names. */
const mayLack = /\/rollout$|\/dep_\w+\/prompt\?(label|version)=/;

/** Responses that are read from the API itself: one page, or all traces. */
export class ApiReader {
  private readonly served: Served;

  constructor(served: Served) {
    this.served = served;
  }

  /** Reads a response; of an event stream only the head, because it may not end. */
  async get(path: string): Promise<{ status: number; type: string; body: Buffer }> {
    const abort = new AbortController();
    const response = await fetch(this.served.url + path, {
      headers: { authorization: `Bearer ${this.served.apiKey}` },
      signal: abort.signal,
    });
    const type = response.headers.get('content-type') ?? '';
    const body = type.includes('text/event-stream') ? Buffer.alloc(0) : Buffer.from(await response.arrayBuffer());
    abort.abort();
    return { status: response.status, type, body };
  }

  async json<T>(path: string): Promise<T> {
    const { status, body } = await this.get(path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${body.toString()}`);
    return JSON.parse(body.toString()) as T;
  }

  /** One field of every row of a page. */
  async column(path: string, field: string): Promise<string[]> {
    const { data } = await this.json<{ data: Record<string, unknown>[] }>(path);
    return data.map((row) => String(row[field]));
  }

  /** The trace ids of an archive, which names its files by them. */
  async traceIds(path: string): Promise<string[]> {
    const { body } = await this.get(path);
    const names = (await unzip(body)).map(({ name }) => name);
    return names.filter((name) => !name.startsWith('otlp/')).map((name) => name.replace(/\.json$/, ''));
  }
}

/**
 * Requests every GET route of the OpenAPI document with every combination of ids, plain and with
 * each query parameter. Returns responses with undocumented statuses, and texts without a final
 * newline. Throws on a parameter without a value.
 */
export async function walkGetRoutes(
  served: Served,
  ids: Record<string, Ids>,
  queries: Record<string, string>,
): Promise<{ routes: string[]; requests: number; wrong: string[] }> {
  const reader = new ApiReader(served);
  const document = await reader.json<OpenApi>('/openapi.json');
  const requests: Request[] = [];
  for (const [route, { get }] of Object.entries(document.paths)) {
    if (!get) continue;
    const expected = Object.keys(get.responses).filter((code) => !errors.includes(code));
    const found = await paths(route, ids);
    if (found.length === 0) throw new Error(`${route}: the walk has no id for it`);
    for (const path of found.map((path) => plain(path, get))) {
      const urls = [path, ...(await queried(path, get))];
      requests.push(...urls.map((url) => ({ route, url, expected: expected.map(Number) })));
    }
  }
  const wrong = await mapLimited(requests, 8, async ({ url, expected }) => {
    const { status, type, body } = await reader.get(url);
    const isWhole = !type.startsWith('text/plain') || body.toString().endsWith('\n');
    const isExpected = expected.includes(status) || (status === 404 && mayLack.test(url));
    return isExpected && isWhole ? [] : [`${url}: ${status} ${body.toString('utf8', 0, 500)}`];
  });
  const routes = [...new Set(requests.map(({ route }) => route))];
  return { routes, requests: requests.length, wrong: wrong.flat() };

  async function queried(path: string, { parameters = [] }: Operation): Promise<string[]> {
    const urls: string[] = [];
    for (const { name, in: location, required, schema = {} } of parameters) {
      if (location !== 'query' || required) continue;
      const join = path.includes('?') ? '&' : '?';
      for (const value of await values(path, name, schema))
        urls.push(`${path}${join}${name}=${encodeURIComponent(value)}${companion(path, name)}`);
    }
    return urls;
  }

  function companion(path: string, name: string): string {
    return ofOutputs.path.test(path) && ofOutputs.names.includes(name) ? '&include=outputs' : '';
  }

  /** The path with its required query parameters. */
  function plain(path: string, { parameters = [] }: Operation): string {
    const required = parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
    if (required.length === 0) return path;
    const query = required.map(({ name }): [string, string] => {
      const value = queries[name];
      if (value === undefined) throw new Error(`${path}: the walk has no value for the query parameter ${name}`);
      return [name, value];
    });
    return `${path}?${new URLSearchParams(query).toString()}`;
  }

  async function values(path: string, name: string, schema: Schema): Promise<string[]> {
    const { $ref } = schema;
    if ($ref) return values(path, name, document.components.schemas[$ref.split('/').at(-1)!]!);
    if (schema.enum) return schema.enum;
    if (schema.type === 'boolean') return ['true', 'false'];
    if (schema.type === 'integer') return [String(schema.minimum ?? 1)];
    if (schema.format === 'date-time') return [new Date().toISOString()];
    if (name === 'candidate_id' && ofCandidates.test(path))
      return (await reader.column(path.replace(ofCandidates, '/candidates'), 'candidate_id')).slice(0, 2);
    if (name === 'cursor') {
      const page = await reader.json<{ next_cursor: string | null }>(`${path}${path.includes('?') ? '&' : '?'}limit=1`);
      return page.next_cursor === null ? [] : [page.next_cursor];
    }
    const value = queries[name];
    if (value === undefined) throw new Error(`${path}: the walk has no value for the query parameter ${name}`);
    return [value];
  }
}

/** The paths of a route, with each of its parameters replaced by each of its ids. */
async function paths(route: string, ids: Record<string, Ids>): Promise<string[]> {
  const [, prefix, name, rest] = /^(.*?)\/\{(\w+)\}(.*)$/.exec(route) ?? [];
  if (name === undefined) return [route];
  const found = (await ids[name]?.(prefix!)) ?? [];
  const all = await Promise.all(found.map((id) => paths(`${prefix}/${encodeURIComponent(id)}${rest}`, ids)));
  return all.flat();
}
