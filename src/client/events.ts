import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Event } from './api.js';
import { pause, waitMs } from './retry.js';

interface Following {
  since: number;
  silenceMs: number;
  onBreak: (() => void) | undefined;
  signal: AbortSignal | undefined;
}

/**
 * The events after `since`, each once and in order. Opens the stream again after the last event
 * when it breaks, until an answer without a body says that the job has ended.
 */
export async function* followEvents(
  open: (after: number) => Promise<Response>,
  { since, silenceMs, onBreak, signal }: Following,
): AsyncGenerator<Event, void, undefined> {
  let last = since;
  for (let tries = 0; ; tries += 1) {
    const { status, body } = await open(last);
    if (status === 204 || body === null) return;
    for await (const { data } of messagesOf(body, silenceMs, signal)) {
      const event = JSON.parse(data) as Event;
      last = event.seq;
      tries = -1;
      yield event;
    }
    // Without delay after progress, so that the end of a job is seen at once.
    if (tries < 0) continue;
    onBreak?.();
    await pause(waitMs(tries, null), signal);
  }
}

/** The messages of a stream until it ends, breaks or is silent; closes it when the reader stops. */
async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await nextPiece(reader, silenceMs, signal);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* messages.splice(0);
    }
  } finally {
    await cancel(reader);
  }
}

/** The next piece; a broken or silent stream has ended. */
async function nextPiece(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  silenceMs: number,
  signal: AbortSignal | undefined,
): Promise<{ done: boolean; value?: Uint8Array | undefined }> {
  const timer = setTimeout(() => void cancel(reader), silenceMs);
  try {
    return await reader.read();
  } catch {
    if (signal?.aborted) throw signal.reason;
    // The next connection goes on after the last event.
    return { done: true };
  } finally {
    clearTimeout(timer);
  }
}

/** Closes a stream; one that is broken is closed already. */
async function cancel(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  await reader.cancel().catch(() => undefined);
}
