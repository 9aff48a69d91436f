import { given, listAt, nameOf, objectAt, textAt, type Path } from '../fields.js';
import { refusedAt, type FormRequest, type Json } from '../form.js';
import { messagesOf } from './content.js';
import { messageForm } from './form.js';

/** Fields that have been read, or that change nothing in the answer of another model. */
const read = new Set([
  'cache_control',
  'container',
  'context_management',
  'inference_geo',
  'max_tokens',
  'mcp_servers',
  'messages',
  'metadata',
  'output_config',
  'output_format',
  'service_tier',
  'stop_sequences',
  'system',
  'thinking',
  'tool_choice',
  'tools',
]);

/** Reads a request of Anthropic's Messages API. Unknown fields go on: the provider judges them. */
export function readMessage(body: Json): FormRequest {
  const { mcp_servers: servers, container, max_tokens: limit, stop_sequences: stop = null, thinking } = body;
  if (Array.isArray(servers) ? servers.length > 0 : servers !== undefined && servers !== null) {
    throw refusedAt(
      ['mcp_servers'],
      'mcp_servers is not served: call the servers yourself, and send their tools as tools.',
    );
  }
  if (limit !== undefined && limit !== null && !(Number.isSafeInteger(limit) && (limit as number) > 0)) {
    throw refusedAt(['max_tokens'], 'max_tokens must be a whole number of at least 1.');
  }
  if (container !== undefined && container !== null) {
    throw refusedAt(['container'], 'container is not served: no code runs here. Leave it out.');
  }
  const stops =
    stop === null ? [] : listAt(stop, ['stop_sequences']).map((text, at) => textAt(text, ['stop_sequences', at]));
  const others = Object.fromEntries(Object.entries(body).filter(([name, value]) => !read.has(name) && value !== null));
  const chat = {
    ...others,
    messages: messagesOf(body),
    ...given({ max_completion_tokens: limit }),
    ...(stops.length > 0 && { stop: stops }),
    ...toolsOf(body),
    ...outputFields(body),
  };
  const thinks = thinking === undefined || thinking === null ? null : objectAt(thinking, ['thinking'])['type'];
  return { chat, form: messageForm({ showsThoughts: thinks !== null && thinks !== 'disabled', stops }) };
}

function toolsOf({ tools, tool_choice: choice }: Json): Json {
  const list = tools === undefined || tools === null ? [] : listAt(tools, ['tools']);
  const functions = list.map((tool, at) => functionOf(objectAt(tool, ['tools', at]), ['tools', at]));
  if (functions.length === 0) return {};
  if (choice === undefined || choice === null) return { tools: functions };
  const { disable_parallel_tool_use: alone, ...chosen } = objectAt(choice, ['tool_choice']);
  return { tools: functions, tool_choice: choiceOf(chosen), ...(alone === true && { parallel_tool_calls: false }) };
}

function functionOf({ type, name, description, input_schema: parameters, strict }: Json, path: Path): Json {
  if (type !== undefined && type !== null && type !== 'custom') {
    throw refusedAt(
      [...path, 'type'],
      `${nameOf(path)} has the type ${JSON.stringify(type)}, a tool that Anthropic runs or that only its models know; ` +
        'use a tool with an input_schema.',
    );
  }
  const known = { name: textAt(name, [...path, 'name']), ...given({ description, parameters, strict }) };
  return { type: 'function', function: known };
}

function choiceOf({ type, name }: Json): unknown {
  if (type === 'auto' || type === 'none') return type;
  if (type === 'any') return 'required';
  if (type === 'tool') return { type: 'function', function: { name: textAt(name, ['tool_choice', 'name']) } };
  throw refusedAt(['tool_choice', 'type'], 'tool_choice.type must be auto, any, tool or none.');
}

/** The effort and the schema of the answer. */
function outputFields({ output_config: config, output_format: older }: Json): Json {
  const { effort, format: newer } = config === undefined || config === null ? {} : objectAt(config, ['output_config']);
  const format = newer ?? older ?? null;
  if (format === null) return given({ reasoning_effort: effort });
  const path = newer ? ['output_config', 'format'] : ['output_format'];
  const { type, schema } = objectAt(format, path);
  if (type !== 'json_schema') throw refusedAt([...path, 'type'], `${nameOf(path)}.type must be json_schema.`);
  const known = { name: 'answer', schema: objectAt(schema, [...path, 'schema']), strict: true };
  return given({ reasoning_effort: effort, response_format: { type, json_schema: known } });
}
