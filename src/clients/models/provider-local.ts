import { Readable } from 'node:stream';
import { eventsOf } from './chat-stream.js';
import { LocalRequestError } from '../../local-model/complete.js';
import { completeLocally } from '../../local-model/index.js';
import type { ModelAnswer } from './provider-answer.js';
import { field } from '../net/untrusted.js';

export function answerLocally(body: Record<string, unknown>): ModelAnswer {
  let completion: Record<string, unknown>;
  try {
    completion = { ...completeLocally(body) };
  } catch (error) {
    if (!(error instanceof LocalRequestError)) throw error;
    const { message, param } = error;
    return json(400, { error: { message, type: 'invalid_request_error', code: 'invalid_request', param } });
  }
  if (body['stream'] !== true) return json(200, completion);
  const includeUsage = field(body['stream_options'], 'include_usage') === true;
  const events = Readable.from(eventsOf(completion, includeUsage));
  return { status: 200, contentType: 'text/event-stream', retryAfter: null, body: events };
}

function json(status: number, value: unknown): ModelAnswer {
  const body = Readable.from([Buffer.from(JSON.stringify(value))]);
  return { status, contentType: 'application/json', retryAfter: null, body };
}
