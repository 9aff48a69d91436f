import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pipeline, type Writable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { messageCompression } from '../compression.js';
import { createWakeSignal, type WakeSignal } from './wake-signal.js';

/** A message of a stream; `data` is one line of JSON. */
export interface Frame {
  id: number;
  event: string;
  data: string;
}

/** The next messages, possibly none; `full`: there may be more. */
export interface Page {
  frames: Frame[];
  full: boolean;
}

/** Source and timing of a stream. */
export interface Source {
  /** The next messages after `id`. */
  read(after: number): Promise<Page>;
  /** Calls `wake` when there may be more; returns an unsubscribe function. */
  subscribe(wake: () => void): () => void;
  /** Whether the stream ends after this message, if no other is stored. */
  isLast(frame: Frame): boolean;
  pollMs: number;
  heartbeatMs: number;
  stallMs: number;
  /** Ends the stream at shutdown; the reader can resume elsewhere. */
  shutdown: AbortSignal;
}

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};
const reconnectMs = 2_000;

/**
 * Streams messages after `after` as server-sent events (WHATWG HTML 9.2) until the last message, a
 * disconnect or shutdown. Drops a stalled reader after `stallMs`; reads nothing more for it
 * meanwhile.
 */
export async function stream(
  request: FastifyRequest,
  reply: FastifyReply,
  after: number,
  source: Source,
): Promise<void> {
  reply.hijack();
  const response = reply.raw;
  const zip = messageCompression(request);
  const encoding = zip ? { 'content-encoding': 'gzip' } : {};
  response.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...headers, ...encoding });
  const signal = createWakeSignal(source.subscribe);
  response.on('close', signal.wake);
  source.shutdown.addEventListener('abort', signal.wake);
  const disconnected = (error: Error | null | undefined) => {
    if (error) request.log.debug({ err: error }, 'the reader of an event stream has disconnected');
  };
  response.on('error', disconnected);
  if (zip) pipeline(zip, response, disconnected);
  const body = zip ?? response;
  try {
    if (await pump(response, body, after, source, signal)) {
      body.end();
      if (!response.writableFinished) await settled(response, 'finish', response, source.stallMs);
    }
  } catch (error) {
    // The reader resumes with Last-Event-ID; missed events are in the table.
    request.log.warn({ err: error }, 'an event stream broke');
  } finally {
    signal.stop();
    source.shutdown.removeEventListener('abort', signal.wake);
    if (!response.writableFinished) response.destroy();
  }
}

/** Writes stored and new messages to `body`; false: the reader disconnected or stalled. */
async function pump(
  response: ServerResponse,
  body: Writable,
  after: number,
  source: Source,
  signal: WakeSignal,
): Promise<boolean> {
  let position = after;
  let last: Frame | null = null;
  let beat = Date.now();
  const send = async (text: string): Promise<boolean> => {
    beat = Date.now();
    if (response.destroyed) return false;
    return body.write(text) || settled(body, 'drain', response, source.stallMs);
  };
  // A field of the first event: a block of its own is an event without data to some readers.
  if (!(await send(`retry: ${reconnectMs}\n`))) return false;
  while (!response.destroyed && !source.shutdown.aborted) {
    const { frames, full } = await source.read(position);
    const newest = frames.at(-1);
    if (newest) {
      if (!(await send(frames.map(textOf).join('')))) return false;
      position = newest.id;
      last = newest;
    }
    if (!full && last && source.isLast(last)) return true;
    // The signal covers messages stored since the read.
    if (full) continue;
    const comment = last ? ': still here\n\n' : ': still here\n';
    if (Date.now() - beat >= source.heartbeatMs && !(await send(comment))) return false;
    await signal.next(Math.min(source.pollMs, Math.max(1, beat + source.heartbeatMs - Date.now())));
  }
  return !response.destroyed;
}

function textOf({ id, event, data }: Frame): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;
}

/** Whether `event` fires within `ms`, before the connection closes. */
async function settled(
  body: Writable,
  event: 'drain' | 'finish',
  response: ServerResponse,
  ms: number,
): Promise<boolean> {
  if (response.destroyed) return false;
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), ms);
  const options = { signal: ended.signal };
  try {
    return await Promise.race([
      once(body, event, options).then(() => true),
      once(response, 'close', options).then(() => false),
    ]).catch(() => false);
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}
