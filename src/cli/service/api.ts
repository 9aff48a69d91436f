import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { setTimeout as delay } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { parseObject } from '../../clients/net/untrusted.js';
import { eventSchema } from '../../contracts/events/schema.js';

/** The wait before a broken stream is requested again. */
const reconnectMs = 100;

const jobEventSchema = z.intersection(eventSchema, z.object({ seq: z.int() }));
export type JobEvent = z.infer<typeof jobEventSchema>;

interface Problem {
  detail?: string;
  errors?: { pointer: string; message: string }[];
}

/** Longest quotation of an answer that is not an error of the API. */
const quoted = 200;

/** Faulty fields that the detail of an error names. */
const named = 3;

/** An error response: its detail, and the faulty fields that the detail leaves out. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly errors: readonly { pointer: string; message: string }[];
  constructor(call: string, status: number, { detail, errors = [] }: Problem) {
    const lines = errors.slice(named).map(({ pointer, message }) => `\n  ${pointer} ${message}`);
    super(`${call}: ${status} ${detail ?? 'without a reason'}${lines.join('')}`);
    this.status = status;
    this.errors = errors;
  }
}

/** The service does not answer, or its answer broke off. */
export class ServiceUnreachable extends Error {
  constructor(call: string, base: string, cause: unknown) {
    super(
      `${call}: the service at ${base} does not answer (${reasonOf(cause)}). Start it again; its jobs go on, and "ratchet watch ID" follows one.`,
      { cause },
    );
  }
}

/** The innermost reason: that of fetch is only "fetch failed". */
function reasonOf(error: unknown): string {
  const { cause, message, code } = error as NodeJS.ErrnoException;
  return cause ? reasonOf(cause) : message || code || String(error);
}

/** A minimal API client for the commands of this package. */
export class Api {
  readonly url: string;
  /** Ids of the jobs that the command has started, and of those that it only follows. */
  readonly started: string[] = [];
  readonly watched: string[] = [];
  /** Whether the command has its result and only stays up: Ctrl-C ends it as a success. */
  isResting = false;
  private readonly apiKey: string;

  constructor(url: string, apiKey: string) {
    this.url = url;
    this.apiKey = apiKey;
  }

  /** Calls a route and returns its JSON. */
  async call<T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<T> {
    const content = body === undefined ? null : { type: 'application/json', body: JSON.stringify(body) };
    return this.send<T>(method, path, content);
  }

  /** All rows of a list, page by page. */
  async all<Row>(path: string): Promise<Row[]> {
    const rows: Row[] = [];
    let cursor: string | null = null;
    do {
      const next = cursor === null ? '' : `${path.includes('?') ? '&' : '?'}cursor=${cursor}`;
      const page: { data: Row[]; next_cursor: string | null } = await this.call('GET', path + next);
      rows.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return rows;
  }

  /** Deletes a resource, which is answered without a body. */
  async remove(path: string): Promise<void> {
    const response = await this.request('DELETE', path, {});
    if (!response.ok) throw await this.failure(`DELETE ${path}`, response);
  }

  /** Reads a file. */
  async download(path: string): Promise<Readable> {
    const response = await this.request('GET', path, {});
    if (!response.ok) throw await this.failure(`GET ${path}`, response);
    return Readable.fromWeb(response.body as WebStream);
  }

  /** Sends a file as the body. */
  async upload<T>(path: string, type: string, file: Readable): Promise<T> {
    return this.send<T>('POST', path, { type, body: Readable.toWeb(file) as ReadableStream });
  }

  private async send<T>(
    method: string,
    path: string,
    content: { type: string; body: string | ReadableStream } | null,
  ): Promise<T> {
    const response = await this.request(method, path, {
      headers: content ? { 'content-type': content.type } : {},
      ...(content && { body: content.body, duplex: 'half' as const }),
    });
    const call = `${method} ${path}`;
    if (!response.ok) throw await this.failure(call, response);
    const text = await this.textOf(call, response);
    try {
      return JSON.parse(text) as T;
    } catch {
      throw this.noJson(call, response.status, text);
    }
  }

  /** Sends a request with the key. */
  private async request(method: string, path: string, init: RequestInit): Promise<Response> {
    const headers = { authorization: `Bearer ${this.apiKey}`, ...init.headers };
    return fetch(this.url + path, { ...init, method, headers }).catch((error: unknown) => {
      throw new ServiceUnreachable(`${method} ${path}`, this.url, error);
    });
  }

  private textOf(call: string, response: Response): Promise<string> {
    return response.text().catch((error: unknown) => {
      throw new ServiceUnreachable(call, this.url, error);
    });
  }

  private async failure(call: string, response: Response): Promise<ApiFailure> {
    const text = await this.textOf(call, response);
    const problem = parseObject(text) as Problem | null;
    return problem ? new ApiFailure(call, response.status, problem) : this.noJson(call, response.status, text);
  }

  private noJson(call: string, status: number, text: string): ApiFailure {
    const answer = text.trim() === '' ? 'nothing' : `"${text.trim().slice(0, quoted)}"`;
    return new ApiFailure(call, status, {
      detail: `from ${this.url}, which is no answer of Ratchet: ${answer}. Check that RATCHET_URL or PORT names the service itself.`,
    });
  }

  /** Follows a job's events to the terminal event, across lost connections. */
  async *follow(path: string): AsyncGenerator<JobEvent> {
    let last = 0;
    for (;;) {
      const response = await this.request('GET', path, {
        headers: { accept: 'text/event-stream', 'last-event-id': String(last) },
      });
      if (response.status === 204) return;
      if (!response.ok || !response.body) throw await this.failure(`GET ${path}`, response);
      const messages = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      try {
        for await (const { data } of messages) {
          const event = jobEventSchema.parse(JSON.parse(data));
          last = event.seq;
          yield event;
        }
      } catch (error) {
        if (error instanceof SyntaxError || error instanceof z.ZodError) throw error;
        // The connection broke. If the service is gone, the next request fails.
        await delay(reconnectMs);
      }
    }
  }

  /** Follows a job to its end and reads it. */
  async ended<T>(path: string): Promise<T> {
    for await (const event of this.follow(`${path}/events`)) void event;
    return this.call<T>('GET', path);
  }
}
