import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { setTimeout as delay } from 'node:timers/promises';
import type { SeenEvent } from './evidence.js';

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
    const ready: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (event) => ready.push(event) });
    const decoder = new TextDecoder();
    for await (const chunk of response.body) {
      parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
      for (const { data } of ready.splice(0)) {
        const { seq, type, message, data: fields } = JSON.parse(data) as SeenEvent;
        reader.events.push({ seq, type, message, data: fields });
      }
    }
  }

  async function read(): Promise<void> {
    while (!reader.ended && !signal.aborted) {
      try {
        await connect();
      } catch (error) {
        if (signal.aborted) return;
        // A text that is no JSON is the service's fault; a lost connection is what readers come back from.
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
