import { routes } from './api.js';
import { attempt, type Fetch } from './attempt.js';
import { environment } from './environment.js';
import { RatchetError } from './errors.js';
import { newKey, urlOf } from './request.js';
import { withRetries } from './retry.js';
import type { CallOptions, OperationId } from './types.js';

export interface RatchetOptions {
  /** The service. Default: RATCHET_URL, else http://127.0.0.1:8787. */
  url?: string | undefined;
  /** Default: RATCHET_API_KEY. Empty: none. */
  apiKey?: string | undefined;
  /** Default: the `fetch` of the runtime. */
  fetch?: Fetch | undefined;
  /** Repetitions of a call that may succeed later. Default: 4. */
  maxRetries?: number | undefined;
  /** Time limit of each attempt. Default: 60,000. */
  timeoutMs?: number | undefined;
}

/** A call of any operation; `content` is a body other than JSON. */
export interface Call extends CallOptions {
  path?: Record<string, string | number> | undefined;
  query?: object | undefined;
  body?: unknown;
  maxRetries?: number | undefined;
  /** Called before each repetition. */
  onBreak?: (() => void) | undefined;
  content?: { type: string; data: Blob | string | ReadableStream<Uint8Array> };
}

const defaultUrl = 'http://127.0.0.1:8787';

/** The service, its key, and the rules of repetition. */
export class Connection {
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly url: string;
  private readonly apiKey: string | undefined;
  private readonly fetch: Fetch;

  constructor({ url, apiKey, fetch: given, maxRetries = 4, timeoutMs = 60_000 }: RatchetOptions) {
    this.url = checkedUrl(url ?? environment('RATCHET_URL') ?? defaultUrl);
    const key = (apiKey ?? environment('RATCHET_API_KEY') ?? '').trim();
    this.apiKey = key === '' ? undefined : checkedHeader('apiKey', key);
    this.fetch = given ?? ((target, init) => fetch(target, init));
    this.maxRetries = maxRetries;
    this.timeoutMs = timeoutMs;
  }

  /** Sends a call until it succeeds or fails for good; `own`: headers of its operation. */
  async send<T>(id: OperationId, call: Call, read: (response: Response) => T | Promise<T>, own: object = {}) {
    const { method, path, takesKey } = routes[id];
    const { body, content, signal, timeoutMs = this.timeoutMs, maxRetries = this.maxRetries } = call;
    const type = content?.type ?? (body === undefined ? undefined : 'application/json');
    const headers = new Headers({
      ...(this.apiKey !== undefined && { authorization: `Bearer ${this.apiKey}` }),
      ...(type !== undefined && { 'content-type': type }),
      ...(takesKey && {
        'idempotency-key':
          call.idempotencyKey === undefined ? newKey() : checkedHeader('idempotencyKey', call.idempotencyKey),
      }),
      ...own,
    });
    for (const [name, value] of Object.entries(call.headers ?? {}))
      headers.set(checkedName(name), checkedHeader(`headers.${name}`, value));
    const outgoing = {
      url: this.url + urlOf(path, call.path, call.query),
      method,
      headers,
      signal,
      timeoutMs,
      body: content?.data ?? (body === undefined ? undefined : JSON.stringify(body)),
    };
    // A stream is read once. Other content has an id that follows from it.
    const isStream = content?.data instanceof ReadableStream;
    const isRepeatable = method !== 'POST' || takesKey || content !== undefined;
    const rule = { isRepeatable, maxRetries: isStream ? 0 : maxRetries, signal, onBreak: call.onBreak };
    return withRetries(rule, (tries) =>
      attempt(this.fetch, outgoing, read).catch((error: unknown) => {
        // The try before deleted it, and its answer was lost.
        const isGone = method === 'DELETE' && tries > 0 && error instanceof RatchetError && error.status === 404;
        if (isGone) return read(new Response(null, { status: 204 }));
        throw error;
      }),
    );
  }
}

/** A base URL without slashes at its end. */
function checkedUrl(url: string): string {
  // Parsers leave control characters out, or the runtime refuses them later.
  if (!/^https?:\/\//.test(url) || !URL.canParse(url) || /\p{Cc}/u.test(url))
    throw new RatchetError(`url: "${url.slice(0, 200)}" is no URL that begins with http:// or https://.`, {
      code: 'invalid_url',
    });
  let base = url;
  while (base.endsWith('/')) base = base.slice(0, -1);
  return base;
}

/** The value of a header. Runtimes refuse others with a TypeError that names no field. */
function checkedHeader(field: string, value: string): string {
  const at = Array.from(value).findIndex((character) => !/^[\t\x20-\x7e]$/.test(character));
  if (at === -1) return value;
  throw invalidHeader(`${field}: character ${at + 1} is not visible ASCII; headers take no other. Copy it again.`);
}

function checkedName(name: string): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return name;
  throw invalidHeader(`headers: ${JSON.stringify(name).slice(0, 100)} is no name of a header.`);
}

const invalidHeader = (message: string) => new RatchetError(message, { code: 'invalid_header' });
