import { sseData } from '../../client/answers/chat-stream.js';
import { ApiError, type OpenAiError } from '../../../platform/http/server/errors.js';

export type Json = Record<string, unknown>;

/** Why a stream ended without its answer. */
export interface StreamFailure {
  status: number;
  code: string;
  message: string;
}

/** A chat completion as another API's answer. `id`: our own; null: the provider's. */
export interface AnswerForm {
  /** Fields of a chat completion that every caller of the API sends; a graph goes without them. */
  readonly mandatory: readonly string[];
  whole(completion: Json, id: string | null): Json;
  stream(id: string | null): FormStream;
  error(status: number, error: Partial<OpenAiError['error']>): Json;
}

/** The events of an answer as text. */
export interface FormStream {
  /** What a chunk of the completion adds. */
  add(chunk: Json): string;
  /** What passes the time, for a comment of the provider. */
  idle(): string;
  /** The last events of a whole answer. */
  end(): string;
  /** The last events of an answer that failed. */
  fail(failure: StreamFailure): string;
}

/** An event of another API; its type is in its data, too. */
export interface FormEvent extends Json {
  type: string;
}

/** A request as a chat completion request, and the form of its answer. */
export interface FormRequest {
  chat: Json;
  form: AnswerForm;
}

export function sseEvents(events: readonly FormEvent[]): string {
  return events.map((event) => `event: ${event.type}\n${sseData(event)}`).join('');
}

/** A chat completion request for a graph, whose steps have their own parameters. */
export function forGraph<Body extends Json>(body: Body, form: AnswerForm | null): Body {
  if (!form) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !form.mandatory.includes(name))) as Body;
}

/** The refusal of a field that has no meaning here; `path` leads to it. */
export function refusedAt(path: readonly (string | number)[], message: string): ApiError {
  const pointer = path.map((part) => `/${part}`).join('');
  return new ApiError(400, 'invalid_request', message, { errors: [{ pointer, message }] });
}
