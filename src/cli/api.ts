import { setTimeout as delay } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { eventSchema } from '../contracts/events/schema.js';

/** The wait before a broken stream is requested again. */
const reconnectMs = 100;

const jobEventSchema = z.intersection(eventSchema, z.object({ seq: z.int() }));
export type JobEvent = z.infer<typeof jobEventSchema>;

/** A minimal API client for the commands of this package. */
export class Api {
  private readonly base: string;
  private readonly apiKey: string;

  constructor(base: string, apiKey: string) {
    this.base = base;
    this.apiKey = apiKey;
  }

  /** Calls a route and returns its JSON; an error response becomes an Error with its `detail`. */
  async call<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.base + path, {
      method,
      headers: {
        authorization: `Bearer ${this.apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as T & { detail?: string };
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${answer.detail ?? JSON.stringify(answer)}`);
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
