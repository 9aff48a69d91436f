import { createParser } from 'eventsource-parser';
import { Agent, request } from 'undici';
import { now } from './clock.js';

/** A job's event on arrival; `at` in milliseconds of the machine's monotonic clock. */
export interface Arrived {
  type: string;
  seq: number;
  at: number;
  data: Record<string, unknown>;
}

/** A client of the service. Every call has a timeout. */
export interface Caller {
  /** Calls a route; rejects unless the status is 2xx. */
  call<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T>;
  /** Follows a job's stream on its own connection; resolves with the terminal event. */
  follow(path: string, signal: AbortSignal, onEvent?: (event: Arrived) => void): Promise<Arrived>;
  close(): Promise<void>;
}

const callMs = 30_000;
const terminal = /^(job_(complete|failed|cancelled)|eval\.policy\.job\.(completed|failed|cancelled))$/;

export function createCaller(base: string, apiKey: string): Caller {
  const dispatcher = new Agent({ connections: 64, pipelining: 1 });
  // Each stream occupies a connection.
  const streams = new Agent({ pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
  const authorization = `Bearer ${apiKey}`;
  return {
    async call<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> {
      const answer = await request(base + path, {
        dispatcher,
        method,
        headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(callMs),
      });
      const text = await answer.body.text();
      if (answer.statusCode > 299) throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 500)}`);
      return JSON.parse(text) as T;
    },

    async follow(path, signal, onEvent = () => undefined) {
      const answer = await request(base + path, {
        dispatcher: streams,
        headers: { authorization, accept: 'text/event-stream' },
        signal,
      });
      if (answer.statusCode !== 200) throw new Error(`GET ${path}: ${answer.statusCode} ${await answer.body.text()}`);
      let at = 0;
      let last: Arrived | null = null;
      const parser = createParser({
        onEvent({ data, event, id }) {
          const arrived = { type: event ?? '', seq: Number(id), at, data: JSON.parse(data) as Record<string, unknown> };
          if (terminal.test(arrived.type)) last = arrived;
          onEvent(arrived);
        },
      });
      const decoder = new TextDecoder();
      for await (const chunk of answer.body) {
        at = now();
        parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
      }
      if (!last) throw new Error(`the stream ${path} ended before its job`);
      return last;
    },

    async close() {
      await Promise.all([dispatcher.destroy(), streams.destroy()]);
    },
  };
}
