import { given, listAt, objectAt, textAt } from '../fields.js';
import { refusedAt, type FormRequest, type Json } from '../form.js';
import { responseForm } from './form.js';
import { messagesOf } from './input.js';
import { toolsOf } from './tools.js';

/** What needs a store of responses or work after the answer, with the way to do without. */
const unserved: Record<string, string> = {
  previous_response_id: 'responses are not stored. Send the whole conversation as input.',
  conversation: 'conversations are not stored. Send the whole conversation as input.',
  prompt:
    'stored prompts are those of OpenAI. Send instructions and input; the prompt that is served takes their place.',
};

/** Fields that have been read, or that change nothing in an answer that is not stored. */
const read = new Set([
  ...Object.keys(unserved),
  'background',
  'context_management',
  'include',
  'input',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'reasoning',
  'store',
  'stream_options',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'truncation',
]);

const logprobs = 'message.output_text.logprobs';
/** Parts of items that no answer here has, but for the first. */
const includable = new Set([
  logprobs,
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'web_search_call.results',
]);

/** Reads a request of OpenAI's Responses API. Unknown fields go on: the provider judges them. */
export function readResponse(body: Json): FormRequest {
  for (const [name, reason] of Object.entries(unserved)) {
    if (body[name] !== undefined && body[name] !== null) throw refusedAt([name], `${name} is not served: ${reason}`);
  }
  if (body['background'] === true) {
    throw refusedAt(
      ['background'],
      'background is not served: responses are not stored. Leave it out, and stream if the answer takes long.',
    );
  }
  const others = Object.fromEntries(Object.entries(body).filter(([name, value]) => !read.has(name) && value !== null));
  const chat = {
    ...others,
    messages: messagesOf(body),
    ...given({ max_completion_tokens: body['max_output_tokens'] }),
    ...toolsOf(body),
    ...textFields(body['text']),
    ...reasoningFields(body['reasoning']),
    ...logprobFields(body),
  };
  return { chat, form: responseForm(body) };
}

/** The form of the answer: `response_format` and `verbosity`. */
function textFields(text: unknown): Json {
  if (text === undefined || text === null) return {};
  const { format = null, verbosity } = objectAt(text, ['text']);
  return given({ response_format: format === null ? null : formatOf(objectAt(format, ['text', 'format'])), verbosity });
}

function formatOf({ type, name, schema, strict, description }: Json): Json | null {
  if (type === 'text') return null;
  if (type === 'json_object') return { type };
  if (type !== 'json_schema') {
    throw refusedAt(['text', 'format', 'type'], 'text.format.type must be text, json_schema or json_object.');
  }
  const known = given({ schema, strict, description });
  return { type, json_schema: { name: textAt(name, ['text', 'format', 'name']), ...known } };
}

function reasoningFields(reasoning: unknown): Json {
  if (reasoning === undefined || reasoning === null) return {};
  return given({ reasoning_effort: objectAt(reasoning, ['reasoning'])['effort'] });
}

function logprobFields({ include, top_logprobs: top }: Json): Json {
  const asked = include === undefined || include === null ? [] : listAt(include, ['include']);
  for (const [at, value] of asked.entries()) {
    if (includable.has(textAt(value, ['include', at]))) continue;
    throw refusedAt(['include', at], `include[${at}] is not served; these are: ${[...includable].join(', ')}.`);
  }
  const isAsked = asked.includes(logprobs) || (typeof top === 'number' && top > 0);
  return isAsked ? given({ logprobs: true, top_logprobs: top }) : {};
}
