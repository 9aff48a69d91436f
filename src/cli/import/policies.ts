/** Models and parameters of OpenAI's requests as those of a policy. */
import { ApiError } from '../../platform/http/server/errors.js';
import { readResponse } from '../../models/routes/forms/responses/request.js';
import { isObject } from '../../util/json.js';
import type { Parameters } from '../task/policy.js';
import type { Report } from './imported.js';

type Json = Record<string, unknown>;

/** Parameters that chat completions and responses call the same, or that a chat completion has. */
const kept = new Set([
  'temperature',
  'top_p',
  'seed',
  'stop',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'response_format',
  'reasoning_effort',
  'verbosity',
  'max_tokens',
  'max_completion_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
]);
/** What the form of a chat completion is made of. */
const translated = new Set(['text', 'reasoning', 'max_output_tokens', 'max_completions_tokens']);
/** What changes no answer, or is that of one request. */
const passing = new Set([
  'background',
  'conversation',
  'include',
  'metadata',
  'model',
  'previous_response_id',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'store',
  'stream',
  'stream_options',
  'truncation',
  'user',
]);

/** The parameters of a request; what is none or cannot be one is reported. */
export function parametersOf(given: Json, place: string, report: Report): Parameters {
  const set = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  const fields = Object.fromEntries(set.filter(([name]) => kept.has(name)));
  for (const [name] of set)
    if (!kept.has(name) && !translated.has(name) && !passing.has(name))
      report.leave(`${place}: ${name}, which is no parameter of a model here`);
  const { text, reasoning, max_output_tokens: most = given['max_completions_tokens'] } = given;
  const { tools, rest } = withTools(fields, place, report);
  try {
    // Tools with a name of their own are those of responses.
    const isResponse = tools.some((tool) => typeof tool['name'] === 'string');
    const read = readResponse({ input: '-', text, reasoning, ...(isResponse && { tools, ...choiceOf(rest) }) }).chat;
    const { messages: _, ...form } = read;
    return {
      ...rest,
      ...(!isResponse && tools.length > 0 && { tools }),
      ...form,
      ...(typeof most === 'number' && { max_completion_tokens: most }),
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    report.leave(`${place}: the form of the answer and the tools; ${error.message}`);
    return rest;
  }
}

const choiceOf = ({ tool_choice: choice, parallel_tool_calls: parallel }: Json) => ({
  tool_choice: choice,
  parallel_tool_calls: parallel,
});

/** Functions of the caller; tools that OpenAI runs are left out. */
function withTools(
  { tools, tool_choice: choice, parallel_tool_calls: parallel, ...plain }: Json,
  place: string,
  report: Report,
) {
  const all = (Array.isArray(tools) ? (tools as unknown[]) : []).filter(isObject);
  const functions = all.filter(({ type }) => type === 'function');
  const others = all.filter(({ type }) => type !== 'function').map(({ type }) => String(type));
  if (others.length > 0)
    report.leave(`${place}: the tools ${[...new Set(others)].join(', ')}, which OpenAI runs; give a function of yours`);
  const rest: Json =
    functions.length === 0
      ? plain
      : {
          ...plain,
          ...(choice !== undefined && { tool_choice: choice }),
          ...(parallel !== undefined && { parallel_tool_calls: parallel }),
        };
  return { tools: functions, rest };
}

/** `openai/NAME`; null: none is named. */
export function modelName(model: unknown): string | null {
  if (typeof model !== 'string' || model.trim() === '') return null;
  return model.includes('/') ? model : `openai/${model}`;
}
