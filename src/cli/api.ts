import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { eventSchema } from '../contracts/events/schema.js';

/** The wait before a broken stream is requested again. */
const reconnectMs = 100;

const jobEventSchema = z.intersection(eventSchema, z.object({ seq: z.int() }));
export type JobEvent = z.infer<typeof jobEventSchema>;

interface Problem {
  detail?: string;
  errors?: { pointer: string; message: string }[];
}

/** An error response: its detail, and the faulty fields. */
export class ApiFailure extends Error {
  readonly status: number;
  constructor(call: string, status: number, problem: Problem) {
    const { detail = JSON.stringify(problem), errors = [] } = problem;
    const lines = errors.map(({ pointer, message }) => `\n  ${pointer} ${message}`);
    super(`${call}: ${status} ${detail}${lines.join('')}`);
    this.status = status;
  }
}

/** A minimal API client for the commands of this package. */
export class Api {
  private readonly base: string;
  private readonly apiKey: string;

  constructor(base: string, apiKey: string) {
    this.base = base;
    this.apiKey = apiKey;
  }

  /** Calls a route and returns its JSON. */
  async call<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> {
    const content = body === undefined ? null : { type: 'application/json', body: JSON.stringify(body) };
    return this.send<T>(method, path, content);
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
    const response = await fetch(this.base + path, {
      method,
      headers: { authorization: `Bearer ${this.apiKey}`, ...(content && { 'content-type': content.type }) },
      ...(content && { body: content.body, duplex: 'half' as const }),
    });
    const answer = (await response.json()) as T & Problem;
    if (!response.ok) throw new ApiFailure(`${method} ${path}`, response.status, answer);
    return answer;
  }

  /** Follows a job's events to the terminal event, across lost connections. */
  async *follow(path: string): AsyncGenerator<JobEvent> {
    let last = 0;
    for (;;) {
      const response = await fetch(this.base + path, {
        headers: { authorization: `Bearer ${this.apiKey}`, accept: 'text/event-stream', 'last-event-id': String(last) },
      });
      if (response.status === 204) return;
      if (!response.ok || !response.body) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
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
}
