import { errorOf, RatchetError } from './errors.js';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A request as it goes out. */
export interface Outgoing {
  url: string;
  method: string;
  headers: Headers;
  body: RequestInit['body'];
  signal: AbortSignal | undefined;
  timeoutMs: number;
}

/**
 * Sends a request once and reads its success. The time limit ends with `read`; the caller's signal
 * reaches the body of a response that `read` returns.
 */
export async function attempt<T>(fetch: Fetch, outgoing: Outgoing, read: (response: Response) => T | Promise<T>) {
  const { url, method, headers, body, signal: parent, timeoutMs } = outgoing;
  const call = `${method} ${new URL(url).pathname}`;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  // `any` holds its sources' dependents weakly, so a signal that outlives the call keeps nothing.
  const signal = parent ? AbortSignal.any([parent, controller.signal]) : controller.signal;
  try {
    const init: RequestInit = { method, headers, signal, ...(body !== undefined && { body }) };
    // Streams as bodies need it, in Node and in browsers.
    const streamed = { ...init, duplex: 'half' as const };
    const response = await fetch(url, body instanceof ReadableStream ? streamed : init);
    if (!response.ok) throw await errorOf(call, response);
    return await read(response);
  } catch (error) {
    if (parent?.aborted) throw parent.reason;
    if (error instanceof RatchetError) throw error;
    throw failure(call, url, error, controller.signal.aborted ? timeoutMs : null);
  } finally {
    clearTimeout(timer);
  }
}

function failure(call: string, url: string, cause: unknown, timeoutMs: number | null): RatchetError {
  const { origin } = new URL(url);
  if (timeoutMs !== null)
    return new RatchetError(`${call}: no answer within ${timeoutMs} ms; raise timeoutMs.`, { code: 'timeout', cause });
  if ((cause as Error).name === 'SyntaxError')
    return new RatchetError(`${call}: the answer of ${origin} is not JSON; check that url names Ratchet itself.`, {
      code: 'invalid_answer',
      cause,
    });
  if (timeLimitsOfFetch.has(codeOf(cause)))
    return new RatchetError(
      `${call}: fetch gave up after a limit of its own (in Node 5 minutes); stream the answer, or pass undici's fetch with an Agent({ headersTimeout: 0, bodyTimeout: 0 }).`,
      { code: 'timeout', cause },
    );
  const message = `${call}: the service at ${origin} does not answer (${reasonOf(cause)}); check url and whether it runs.`;
  return new RatchetError(message, { code: 'unreachable', cause });
}

const timeLimitsOfFetch: ReadonlySet<string | undefined> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** The code of the innermost error. */
function codeOf(error: unknown): string | undefined {
  const { cause, code } = error as Error & { code?: string };
  return cause ? codeOf(cause) : code;
}

/** The innermost reason: that of fetch is only "fetch failed". */
function reasonOf(error: unknown): string {
  const { cause, message, code } = error as Error & { code?: string };
  return cause ? reasonOf(cause) : message || code || String(error);
}
