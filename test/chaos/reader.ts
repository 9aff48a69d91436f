import { EventSourceParserStream } from 'eventsource-parser/stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { SeenEvent } from './evidence/evidence.js';

/** A reader of a job's stream that comes back with Last-Event-ID whenever it loses it. */
export interface Reader {
  name: string;
  /** What it was shown, over all connections. */
  events: SeenEvent[];
  /** How often it lost the stream. */
  cuts: number;
  /** It came back after the last event and was told that there is nothing more (204). */
  ended: boolean;
  /** Resolves when it has ended or was told to stop. */
  done: Promise<void>;
  stop(): void;
}

const againMs = 50;

/** Reads the events of a job from `url`, which may move from one connection to the next. */
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
        // A text that is no JSON is the service's fault; a lost connection is what readers come
        // back from.
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
