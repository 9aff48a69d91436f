import { describe, expect, test } from '@jest/globals';
import { lessonsOf } from '../../../../src/models/client/quirks/refused-fields.js';

/** A request with every field that has a lesson, so that one too many is seen. */
const all = {
  model: 'm',
  messages: [
    { role: 'developer', content: 'Be short.' },
    { role: 'user', content: 'Hello' },
  ],
  temperature: 0,
  top_p: 0.5,
  presence_penalty: 1,
  frequency_penalty: 1,
  seed: 7,
  n: 2,
  logprobs: true,
  top_logprobs: 2,
  parallel_tool_calls: false,
  max_tokens: 16,
  stream: true,
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } },
  stream_options: { include_usage: true },
};
const { max_tokens: _, ...others } = all;
const recent = { ...others, max_completion_tokens: 16 };
const asSystem = { ...all, messages: [{ role: 'system', content: 'Be short.' }] };
const asObject = { ...all, response_format: { type: 'json_object' } };

const openAi = (message: string, param: string | null = null, code: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
});
const notSupported = (name: string) =>
  openAi(`Unsupported parameter: '${name}' is not supported with this model.`, name, 'unsupported_parameter');
const newName =
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
const litellm = (message: string) => ({ error: { message, type: null, param: null, code: '400' } });
const google = (message: string) => [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }];

/** Refusals as vendors and servers word them: who, status, body, lessons, request. */
const refusals: [who: string, status: number, body: unknown, lessons: string[], sent?: object][] = [
  ['OpenAI', 400, openAi(newName, 'max_tokens', 'unsupported_parameter'), ['max_tokens']],
  ['Copilot', 400, { error: { message: newName, code: 'invalid_request_body' } }, ['max_tokens']],
  ['a gateway with a note', 400, openAi(`${newName} (request id: 2025x)`, 'max_tokens'), ['max_tokens']],
  ['a gateway in another', 500, { detail: `Error code: 400 - {'error': {'message': "${newName}"}}` }, ['max_tokens']],
  ['LiteLLM', 400, litellm(`litellm.BadRequestError: OpenAIException - ${newName}`), ['max_tokens']],
  ['as text', 400, newName, ['max_tokens']],
  [
    'Azure of 2024',
    400,
    openAi('Unrecognized request argument supplied: max_completion_tokens'),
    ['max_completion_tokens'],
    recent,
  ],
  [
    'vLLM of 2024',
    400,
    {
      object: 'error',
      message:
        "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted', 'input': 800}]",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    ['max_completion_tokens'],
    recent,
  ],
  [
    'Azure Mistral',
    400,
    {
      error: {
        requestid: 'bd',
        code: 400,
        message:
          'Validation error at #/max_completion_tokens: Extra inputs are not permitted\nValidation error at #/seed: Extra inputs are not permitted',
      },
    },
    ['max_completion_tokens', 'seed'],
    recent,
  ],
  [
    'OpenAI, both limits',
    400,
    openAi(
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      'max_tokens',
      'invalid_parameter_combination',
    ),
    ['max_tokens+max_completion_tokens'],
    { ...all, max_completion_tokens: 16 },
  ],
  [
    'Volcengine, both limits',
    400,
    {
      error: {
        code: 'InvalidParameter',
        message:
          'The parameter max_tokens specified in the request are not valid: max_tokens and max_completion_tokens cannot be set at the same time.',
        param: 'max_tokens',
        type: 'BadRequest',
      },
    },
    ['max_tokens+max_completion_tokens'],
    { ...all, max_completion_tokens: 16 },
  ],
  [
    'OpenAI',
    400,
    openAi(
      "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
      'temperature',
      'unsupported_value',
    ),
    ['temperature'],
  ],
  ['Moonshot', 400, openAi('invalid temperature: only 1 is allowed for this model'), ['temperature']],
  [
    'Moonshot, K2',
    400,
    { error: { message: 'invalid temperature: only 0.6 is allowed for this model', type: 'invalid_request_error' } },
    ['temperature'],
  ],
  [
    'Anthropic',
    400,
    { type: 'error', error: { type: 'invalid_request_error', message: '`temperature` is deprecated for this model.' } },
    ['temperature'],
  ],
  [
    'Bedrock',
    400,
    { message: 'The model returned the following errors: `temperature` is deprecated for this model.' },
    ['temperature'],
  ],
  [
    'Bedrock in LiteLLM',
    400,
    litellm(
      String.raw`litellm.BadRequestError: BedrockException - {"message":"The model returned the following errors: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"\`temperature\` is deprecated for this model.\"}}"}`,
    ),
    ['temperature'],
  ],
  [
    'Anthropic, thinking',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: '`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.',
      },
    },
    ['temperature'],
  ],
  [
    'Anthropic, both',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
      },
    },
    ['temperature+top_p'],
  ],
  [
    "LiteLLM's own",
    400,
    litellm(
      "litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.84. Only temperature=1 is supported. To drop unsupported params set `litellm.drop_params = True`.",
    ),
    ['temperature'],
  ],
  [
    'TGI',
    422,
    { error: 'Input validation error: `temperature` must be strictly positive', error_type: 'validation' },
    ['temperature=0'],
  ],
  ['OpenAI', 400, notSupported('top_p'), ['top_p']],
  ['Codex', 400, { detail: 'Unsupported parameter: top_p' }, ['top_p']],
  ['OpenAI', 400, notSupported('presence_penalty'), ['presence_penalty']],
  [
    'xAI',
    400,
    { code: 'Client specified an invalid argument', error: 'Argument not supported on this model: presencePenalty' },
    ['presence_penalty'],
  ],
  [
    'xAI of 2026',
    400,
    { code: 'x', error: 'Model grok-4.6 does not support parameter frequencyPenalty.' },
    ['frequency_penalty'],
  ],
  [
    'Google',
    400,
    google(
      'Invalid JSON payload received. Unknown name "frequency_penalty": Cannot find field.\nInvalid JSON payload received. Unknown name "seed": Cannot find field.',
    ),
    ['frequency_penalty', 'seed'],
  ],
  [
    'LiteLLM',
    400,
    litellm(
      "litellm.UnsupportedParamsError: gemini does not support parameters: {'frequency_penalty': 0.5}, for model=gemini-2.0-flash. To drop these, set `litellm.drop_params=True`",
    ),
    ['frequency_penalty'],
  ],
  [
    'LiteLLM',
    400,
    litellm(
      "litellm.UnsupportedParamsError: anthropic does not support parameters: {'seed': 12345}, for model=claude-3-5-sonnet-20241022.",
    ),
    ['seed'],
  ],
  [
    'Mistral',
    422,
    {
      object: 'Error',
      message: {
        detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted', input: 7 }],
      },
      type: 'invalid_request_error',
    },
    ['seed'],
  ],
  [
    'FastAPI with an echo',
    422,
    {
      detail: [
        {
          type: 'extra_forbidden',
          loc: ['body', 'seed'],
          msg: 'Extra inputs are not permitted',
          input: { temperature: 0, top_p: 1 },
        },
      ],
    },
    ['seed'],
  ],
  ['OpenAI', 403, openAi('You are not allowed to request logprobs from this model'), ['logprobs']],
  ['Google', 400, google('Logprobs is not enabled for models/gemini-2.5-pro'), ['logprobs']],
  ['Groq', 400, openAi('`logprobs` is not supported with this model'), ['logprobs']],
  ['Azure of 2023', 400, openAi('Unrecognized request argument supplied: logprobs'), ['logprobs']],
  ['DeepSeek', 400, openAi('Invalid n value (currently only n = 1 is supported)'), ['n']],
  ['OpenAI', 400, notSupported('n'), ['n']],
  ['OpenAI', 400, notSupported('parallel_tool_calls'), ['parallel_tool_calls']],
  [
    'a gateway',
    400,
    'Validation error at body: Value error, parallel_tool_calls=False is not supported on this backend.',
    ['parallel_tool_calls'],
  ],
  [
    'DeepSeek',
    400,
    openAi('This response_format type is unavailable now', null, 'invalid_request_error'),
    ['json_schema'],
  ],
  [
    'DeepSeek of 2025',
    422,
    'Failed to deserialize the JSON body into the target type: response_format: response_format.type `json_schema` is unavailable now at line 1 column 12440',
    ['json_schema'],
  ],
  [
    'OpenAI',
    400,
    openAi(
      "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the Structured Outputs guide.",
      'response_format',
    ),
    ['json_schema'],
  ],
  ['LM Studio', 400, { error: "'response_format.type' must be 'json_schema' or 'text'" }, ['json_object'], asObject],
  ['LM Studio of 2024', 400, { error: "'response_format.type' must be 'json_schema'" }, ['json_object'], asObject],
  ['Google', 400, google('Json mode is not enabled for models/gemini-pro'), ['json_object'], asObject],
  [
    'LiteLLM',
    400,
    litellm(
      "litellm.UnsupportedParamsError: perplexity does not support parameters: ['response_format'], for model=x.",
    ),
    ['json_schema'],
  ],
  [
    'DeepSeek',
    400,
    openAi(
      'Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`, `latest_reminder` at line 1 column 60',
    ),
    ['developer'],
  ],
  [
    'Qwen',
    400,
    openAi(
      "developer is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.['0].role'",
      null,
      'invalid_parameter_error',
    ),
    ['developer'],
  ],
  [
    'a gateway',
    400,
    openAi(
      "invalid parameter 'messages[0].role': invalid role 'developer', must be one of: system, user, assistant, tool",
    ),
    ['developer'],
  ],
  [
    'OpenAI',
    400,
    openAi(
      "Unsupported value: 'messages[0].role' does not support 'developer' with this model.",
      'messages[0].role',
      'unsupported_value',
    ),
    ['developer'],
  ],
  [
    'pydantic',
    422,
    {
      detail: [
        {
          type: 'literal_error',
          loc: ['body', 'messages', 0, 'role'],
          msg: "Input should be 'system', 'user' or 'assistant'",
          input: 'developer',
        },
      ],
    },
    ['developer'],
  ],
  [
    'OpenAI',
    400,
    openAi(
      "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
      'messages[0].role',
      'unsupported_value',
    ),
    ['system'],
    asSystem,
  ],
  [
    'vLLM with Gemma',
    400,
    { object: 'error', message: 'System role not supported', type: 'BadRequestError', param: null, code: 400 },
    ['system'],
    asSystem,
  ],
  ['SGLang with Gemma', 500, 'jinja2.exceptions.TemplateError: System role not supported', ['system'], asSystem],
  [
    'llama.cpp',
    500,
    {
      error: {
        code: 500,
        message:
          "System role not supported at row 1, column 69:\n{{ bos_token }}{% if messages[0]['role'] == 'system' %}",
        type: 'server_error',
      },
    },
    ['system'],
    asSystem,
  ],
  ['a template', 400, { error: { message: 'Only user and assistant roles are supported!' } }, ['system'], asSystem],
  ['Azure', 400, openAi('Unrecognized request argument supplied: stream_options'), ['stream_options']],
  [
    'Mistral',
    422,
    { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] },
    ['stream_options'],
  ],
  [
    'OpenAI',
    400,
    openAi(
      'Your organization must be verified to stream this model. Please go to: https://x and click on Verify Organization.',
      'stream',
      'unsupported_value',
    ),
    ['stream'],
  ],
  [
    'OpenAI in OpenRouter',
    400,
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          raw: '{\n  "error": {\n    "message": "Your organization must be verified to stream this model.",\n    "type": "invalid_request_error",\n    "param": "stream",\n    "code": "unsupported_value"\n  }\n}',
        },
      },
    },
    ['stream'],
  ],
];

describe('a refusal names what it refuses', () => {
  test.each(refusals)('%s: %i %j', (_who, status, body, lessons, sent = all) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    expect(lessonsOf({ status, text }, sent as Record<string, unknown>).toSorted()).toEqual(lessons.toSorted());
  });

  test.each<[string, number, unknown, object?]>([
    [
      'a value out of range',
      400,
      openAi(
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 5 instead.",
        'temperature',
        'decimal_above_max_value',
      ),
    ],
    [
      'a limit above the most',
      400,
      openAi(
        'max_tokens is too large: 40000. This model supports at most 16384 completion tokens, whereas you provided 40000.',
        'max_tokens',
        'invalid_value',
      ),
    ],
    [
      'a limit above the most',
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens',
        },
      },
    ],
    [
      'a limit below the least',
      400,
      openAi(
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.",
        'max_output_tokens',
        'integer_below_min_value',
      ),
    ],
    [
      'a long prompt',
      400,
      openAi(
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
        'messages',
        'context_length_exceeded',
      ),
    ],
    [
      'a schema with a fault',
      400,
      openAi(
        "Invalid schema for response_format 'a': In context=('properties', 'b'), 'format' is not permitted.",
        'response_format',
      ),
    ],
    ['a schema with a fault', 400, { error: "'response_format.json_schema.schema' must be an object" }],
    [
      'no word json',
      400,
      openAi(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        'messages',
      ),
      asObject,
    ],
    [
      'a template for tools',
      400,
      {
        object: 'error',
        message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        code: 400,
      },
    ],
    [
      'no such model',
      404,
      openAi('The model `m` does not exist or you do not have access to it.', null, 'model_not_found'),
    ],
    ['no key', 401, openAi('temperature is not supported')],
    ['too many calls', 429, openAi('top_p is not supported')],
    ['an overload', 503, '<html>Service Unavailable</html>'],
    [
      'roles in turn',
      400,
      { error: { message: 'Conversation roles must alternate user/assistant/user/assistant/...' } },
      asSystem,
    ],
    ['a place for the system', 400, { error: { message: 'System message must be at the beginning.' } }, asSystem],
    [
      'a list with the role',
      400,
      openAi("invalid role 'developer', must be one of: system, user, assistant, tool"),
      asSystem,
    ],
  ])('%s is no lesson: %i %j', (_what, status, body, sent = all) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    expect(lessonsOf({ status, text }, sent as Record<string, unknown>)).toEqual([]);
  });

  test('only of what was sent', () => {
    for (const [, status, body] of refusals) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      expect(lessonsOf({ status, text }, { model: 'm', messages: [{ role: 'user', content: 'Hello' }] })).toEqual([]);
    }
  });
});
