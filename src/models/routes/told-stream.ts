import { doneData, isUsageChunk, sseData } from '../client/answers/chat-stream.js';
import { withId } from '../client/answers/own-id.js';
import type { SseBlock } from '../../clients/net/sse.js';
import type { ForwardedCall } from './call.js';
import type { StreamFailure } from './forms/form.js';
import { streamError } from './upstream-error.js';

type Json = Record<string, unknown>;

/** What the caller is told of a provider's stream. */
export interface ToldStream {
  /** The text for an event. `chunk` null: it has none; `isFault`: it is an error. */
  event(block: SseBlock, chunk: Json | null, isFault: boolean): string;
  /** The last event of a whole answer; `raw`: the provider's own, '' if it sent none. */
  end(raw: string): string;
  /** The last event of an answer that failed. */
  fail(failure: StreamFailure): string;
}

/** The stream in the form that the call asked for. */
export function toldStream({ form, answerId, upstream }: ForwardedCall): ToldStream {
  if (!form) return chatStream(answerId ?? null, upstream.hideUsageChunk);
  const stream = form.stream(answerId ?? null);
  return {
    event({ raw }, chunk) {
      if (chunk) return stream.add(chunk);
      return raw.startsWith(':') ? stream.idle() : '';
    },
    end: () => stream.end(),
    fail: (failure) => stream.fail(failure),
  };
}

/** The provider's events, without the usage chunk that the caller did not request. */
function chatStream(answerId: string | null, hideUsageChunk: boolean): ToldStream {
  let hasFault = false;
  return {
    event({ raw, data }, chunk, isFault) {
      hasFault ||= isFault;
      if (chunk && hideUsageChunk && isUsageChunk(chunk)) return '';
      return chunk && !isFault && answerId !== null ? withOwnId(raw, data!, answerId) : raw;
    },
    // Some providers leave it out, and clients wait for it.
    end: (raw) => (raw === '' ? sseData(doneData) : raw),
    // The provider's own error has been sent.
    fail: ({ code, message }) => (hasFault ? '' : sseData(streamError(code, message))),
  };
}

/** An event with our id in its JSON, which several lines of data may hold. */
function withOwnId(raw: string, data: string, id: string): string {
  const at = raw.indexOf(data);
  if (at === -1) return sseData(withId(data.replaceAll('\n', ' '), id));
  return raw.slice(0, at) + withId(data, id) + raw.slice(at + data.length);
}
