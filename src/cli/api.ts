import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** One event of a job's stream, as its data line carries it. */
export interface JobEvent {
  type: string;
  seq: number;
  message: string;
  data: Record<string, unknown>;
}

/** A minimal client of the service's own API, for the commands of this package. */
export class Api {
  private readonly base: string;
  private readonly apiKey: string;

  constructor(base: string, apiKey: string) {
    this.base = base;
    this.apiKey = apiKey;
  }

  /** Calls a route and answers its JSON; an error answer becomes an Error with its `detail`. */
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

  /** Follows a job's events to the terminal one, across lost connections. */
  async *follow(path: string): AsyncGenerator<JobEvent> {
    let last = 0;
    for (;;) {
      const response = await fetch(this.base + path, {
        headers: { authorization: `Bearer ${this.apiKey}`, accept: 'text/event-stream', 'last-event-id': String(last) },
      });
      if (response.status === 204) return;
      if (!response.ok || !response.body) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
      const ready: EventSourceMessage[] = [];
      const parser = createParser({ onEvent: (event) => ready.push(event) });
      const decoder = new TextDecoder();
      for await (const chunk of response.body) {
        parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
        for (const { data } of ready.splice(0)) {
          const event = JSON.parse(data) as JobEvent;
          last = event.seq;
          yield event;
        }
      }
    }
  }
}
