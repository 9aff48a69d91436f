import { field, parseObject } from '../../clients/net/untrusted.js';
import { asObject } from '../../util/json.js';
import type { Graph } from '../../core/graphs/graph.js';
import type { Json, JsonObject } from '../../core/graphs/values.js';
import { ApiError } from '../server/errors.js';

/** A chat completion request to a graph. */
export interface GraphRequest {
  /** The graph's input and its JSON pointer in the request. */
  input: JsonObject;
  pointer: string;
  stream: boolean;
  includeUsage: boolean;
}

/**
 * Reads the graph's input from the last user message: a JSON object, or other text as `{"input":
 * text}`. Ignores all other fields but `stream`; refuses `n` above 1.
 */
export function readGraphRequest(body: Record<string, unknown>): GraphRequest {
  const { n, messages, stream, stream_options: options } = body;
  if (n !== undefined && n !== null && n !== 1) throw inputInvalid('/n', 'n must be 1: a graph gives one answer.');
  const list: unknown[] = Array.isArray(messages) ? messages : [];
  const at = list.findLastIndex((message) => field(message, 'role') === 'user');
  if (at < 0) {
    throw inputInvalid('/messages', 'No message has the role "user"; send the input as the last user message.');
  }
  const pointer = `/messages/${at}/content`;
  const text = textIn(field(list[at], 'content'), pointer);
  const includeUsage = stream === true && asObject(options)?.['include_usage'] === true;
  const input = (parseObject(text) as JsonObject | null) ?? { input: text };
  return { input, pointer, stream: stream === true, includeUsage };
}

function textIn(content: unknown, pointer: string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw inputInvalid(pointer, 'content must be a string or a list of text parts.');
  const texts = content.map((part: unknown, at) => {
    const text = field(part, 'type') === 'text' ? field(part, 'text') : null;
    if (typeof text === 'string') return text;
    throw inputInvalid(`${pointer}/${at}`, 'Not a text part; a graph accepts text only.');
  });
  return texts.join('');
}

/** The error for an input that the graph's run refused. */
export function inputRefused(
  { inputs }: Graph,
  { input, pointer }: GraphRequest,
  step: string | null,
  reason: string,
): ApiError {
  const missing = inputs.filter((name) => !Object.hasOwn(input as Record<string, Json>, name)).length;
  const what = step === null ? reason : `step ${step}: ${reason}`;
  const hint = `; send a JSON object with ${missing === 1 ? 'it' : 'them'} as the last user message`;
  const message = `${what[0]!.toUpperCase()}${what.slice(1)}${missing > 0 ? hint : ''}.`;
  return inputInvalid(pointer, message);
}

function inputInvalid(pointer: string, message: string): ApiError {
  return new ApiError(400, 'graph_input_invalid', message, { errors: [{ pointer, message }] });
}
