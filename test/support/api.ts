import { routes } from '../../src/client/api.js';
import { Ratchet, type Event, type JsonOperation } from '../../src/client/index.js';

export type JobEvent = Event;

/** The client of a service without retries, whose operations tests name by method and path. */
export class Api {
  readonly client: Ratchet;

  constructor(url: string, apiKey: string) {
    this.client = new Ratchet({ url: url || 'http://127.0.0.1:9', apiKey, maxRetries: 0, timeoutMs: 300_000 });
  }

  call<T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH', target: string, body?: unknown): Promise<T> {
    const { pathname, searchParams } = new URL(target, 'http://x');
    const found = operations.find((operation) => operation.method === method && operation.path.test(pathname));
    if (!found) throw new Error(`No operation of the document is ${method} ${target}.`);
    const { groups = {} } = found.path.exec(pathname)!;
    const path = Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
    const query = Object.fromEntries([...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]));
    return this.client.request(found.id, { path, query, body } as never) as Promise<T>;
  }
}

/** The OpenAPI document of a service. */
export async function documentOf<T>(url: string): Promise<T> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as T;
}

const operations = Object.entries(routes).map(([id, { method, path }]) => ({
  id: id as JsonOperation,
  method,
  path: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));
