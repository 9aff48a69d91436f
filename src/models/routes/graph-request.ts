import { field, parseObject } from '../../clients/net/untrusted.js';
import { asObject, exceedsJsonLimits } from '../../util/json.js';
import type { Graph } from '../../core/graphs/graph.js';
import type { Json, JsonObject } from '../../core/graphs/values.js';
import { ApiError } from '../../platform/http/server/errors.js';

/** A chat completion request to a graph. */
export interface GraphRequest {
  /** The graph's input and its JSON pointer in the request. */
  input: JsonObject;
  pointer: string;
  stream: boolean;
  includeUsage: boolean;
}

/** Parameters of a model call, which a graph's steps have on their own. */
const parameters = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'seed',
  'stop',
  'max_tokens',
  'max_completion_tokens',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'functions',
  'function_call',
  'response_format',
  'reasoning_effort',
  'verbosity',
  'modalities',
  'audio',
  'prediction',
  'web_search_options',
];

/**
 * Reads the graph's input from the last user message: a JSON object, or other text as the value of
 * its only field, else of `input`. Refuses parameters that the steps would not get, and `n` > 1.
 */
export function readGraphRequest(body: Record<string, unknown>, { inputs }: Pick<Graph, 'inputs'>): GraphRequest {
  const { n, messages, stream, stream_options: options } = body;
  if (n !== undefined && n !== null && n !== 1) throw inputInvalid('/n', 'n must be 1: a graph gives one answer.');
  const given = parameters.find((name) => body[name] !== undefined && body[name] !== null);
  if (given !== undefined) {
    const message = `${given} is not supported by a graph: its steps have their own parameters. Leave it out.`;
    throw new ApiError(400, 'graph_parameter_not_supported', message, {
      errors: [{ pointer: `/${given}`, message }],
    });
  }
  const list: unknown[] = Array.isArray(messages) ? messages : [];
  const at = list.findLastIndex((message) => field(message, 'role') === 'user');
  if (at < 0) {
    throw inputInvalid('/messages', 'No message has the role "user"; send the input as the last user message.');
  }
  const pointer = `/messages/${at}/content`;
  const text = textIn(field(list[at], 'content'), pointer);
  if (exceedsJsonLimits(text)) throw inputInvalid(pointer, 'The input has too many JSON values; send less at a time.');
  const includeUsage = stream === true && asObject(options)?.['include_usage'] === true;
  const [only] = inputs.length === 1 ? inputs : ['input'];
  const input = (parseObject(text) as JsonObject | null) ?? { [only!]: text };
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
