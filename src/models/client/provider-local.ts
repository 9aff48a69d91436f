import { Readable } from 'node:stream';
import { streamOf } from './answers/chat-stream.js';
import type { LocalRequest } from '../../local-model/index.js';
import type { LocalThreads } from './local-threads.js';
import { modelAnswer } from './answers/model-answer.js';
import { providerError, type ModelAnswer } from './answers/provider-answer.js';
import { field } from '../../clients/net/untrusted.js';

/** Answers as the provider `local`. Rejects as `Providers.send`. */
export async function answerLocally(
  threads: LocalThreads,
  body: Record<string, unknown>,
  request: LocalRequest,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  let answered;
  try {
    answered = await threads.answer(request, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw providerError('local', error);
  }
  if ('message' in answered) {
    const { message, param } = answered;
    return whole(
      400,
      JSON.stringify({ error: { message, type: 'invalid_request_error', code: 'invalid_request', param } }),
    );
  }
  if (body['stream'] !== true) return whole(200, answered.completion);
  const includeUsage = field(body['stream_options'], 'include_usage') !== false;
  const completion = JSON.parse(answered.completion) as Record<string, unknown>;
  const events = streamOf(completion, includeUsage);
  return modelAnswer({ status: 200, contentType: 'text/event-stream', retryAfter: null }, events);
}

function whole(status: number, text: string): ModelAnswer {
  return modelAnswer({ status, contentType: 'application/json', retryAfter: null }, Readable.from([Buffer.from(text)]));
}
