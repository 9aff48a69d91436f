import { setTimeout as delay } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import type { JobEvent } from '../../src/cli/service/api.js';

/** Follows a job's stream to its terminal event; after a disconnect, resumes at the next API. */
export async function follow(apis: () => string[], first: number, path: string, apiKey: string): Promise<JobEvent[]> {
  const seen: JobEvent[] = [];
  const parser = createParser({ onEvent: ({ data }) => seen.push(JSON.parse(data) as JobEvent) });
  for (let turn = first; ; turn += 1) {
    const all = apis();
    const headers = {
      authorization: `Bearer ${apiKey}`,
      accept: 'text/event-stream',
      'last-event-id': String(seen.at(-1)?.seq ?? 0),
    };
    // Connections may fail at any time; error responses may not occur.
    const response = await fetch(all[turn % all.length] + path, { headers }).catch(() => null);
    if (response?.status === 204) return seen;
    if (response && !response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
    parser.reset();
    await pump(response?.body ?? null, parser.feed).catch(() => delay(50));
  }
}

async function pump(body: ReadableStream<Uint8Array> | null, feed: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) feed(decoder.decode(chunk, { stream: true }));
}
