import { EventSourceParserStream } from 'eventsource-parser/stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { SeenEvent } from '../evidence/evidence.js';

/** A reader of a job's event stream that resumes with Last-Event-ID after every loss. */
export interface Reader {
  name: string;
  /** The received events, over all connections. */
  events: SeenEvent[];
  /** Number of lost streams. */
  cuts: number;
  /** It reconnected after the last event and got 204. */
  ended: boolean;
  /** Resolves at the end of the stream or after stop. */
  done: Promise<void>;
  stop(): void;
}

const againMs = 50;

/** Reads the events of a job from `url`, which may change between connections. */
export function startReader(name: string, url: () => string, apiKey: string): Reader {
  const stopping = new AbortController();
  const { signal } = stopping;
  const reader: Reader = {
    name,
    events: [],
    cuts: 0,
    ended: false,
    done: Promise.resolve(),
    stop: () => stopping.abort(),
  };

  async function connect(): Promise<void> {
    const last = reader.events.at(-1)?.seq;
    const response = await fetch(url(), {
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: 'text/event-stream',
        ...(last !== undefined && { 'last-event-id': String(last) }),
      },
      signal,
    });
    if (response.status === 204) {
      reader.ended = true;
      return;
    }
    if (!response.ok || !response.body) throw new Error(`the stream answered ${response.status}`);
    const messages = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { data: text } of messages) {
      const { seq, type, message, data } = JSON.parse(text) as SeenEvent;
      reader.events.push({ seq, type, message, data });
    }
  }

  async function read(): Promise<void> {
    while (!reader.ended && !signal.aborted) {
      try {
        await connect();
      } catch (error) {
        if (signal.aborted) return;
        // Invalid JSON is the service's fault; lost connections are expected.
        if (error instanceof SyntaxError) throw error;
        reader.cuts += 1;
      }
      if (!reader.ended) await delay(againMs);
    }
  }
  reader.done = read();
  reader.done.catch(() => undefined);
  return reader;
}
