/** Stored prompts of OpenAI, bodies and answers of requests, and messages. */
import { ConfigError } from '../../service/config.js';
import type { Message } from '../../core/prompts/message.js';
import { asObject, isObject } from '../../util/json.js';
import { named, type ImportedPrompt, type Report } from './imported.js';
import { messagesAt } from './messages.js';
import { idOf } from './pieces.js';
import { modelName, parametersOf } from './policies.js';
import type { Placed } from './source.js';

type Json = Record<string, unknown>;

export interface StoredPrompt {
  what: string;
  /** Null: it has none of its own. */
  name: string | null;
  /** Oldest first. */
  versions: ImportedPrompt[];
  served: ImportedPrompt;
}

/** What describes a prompt and is no parameter of a model. */
const labels = new Set([
  'config',
  'content',
  'created_at',
  'default_version',
  'description',
  'id',
  'input',
  'instructions',
  'is_default',
  'messages',
  'name',
  'object',
  'openai_prompt_id',
  'production_version',
  'project_id',
  'prompt',
  'prompt_id',
  'status',
  'tags',
  'updated_at',
  'variables',
  'version',
  'versions',
]);
/** Parameters that an answer names of its request. */
const answered = [
  'temperature',
  'top_p',
  'max_output_tokens',
  'text',
  'reasoning',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
];

export function readStoredPrompt({ value, place }: Placed, report: Report): StoredPrompt {
  if (Array.isArray(value)) {
    const [only] = [{ messages: messagesAt(value, place), model: null, policy: {}, version: null }];
    return { what: 'messages', name: null, versions: [only!], served: only! };
  }
  const body = value as Json;
  const id = idOf(body) ?? idOf(asObject(body['prompt']) ?? {});
  const name = typeof body['name'] === 'string' && body['name'] !== '' ? body['name'] : id;
  const what = id === null ? 'the prompt of a request' : `the stored prompt ${named(name ?? id)} of OpenAI`;
  const versions = Array.isArray(body['versions'])
    ? versionsOf(body, place, report)
    : [body['object'] === 'response' ? ofResponse(body, place, report) : ofBody(body, place, id, report)];
  const wanted = body['production_version'] ?? body['default_version'];
  const served = versions.find(({ version }) => wanted != null && version === String(wanted)) ?? versions.at(-1)!;
  return { what, name, versions, served };
}

function versionsOf({ versions, ...shared }: Json, place: string, report: Report): ImportedPrompt[] {
  const list = versions as unknown[];
  if (list.length === 0) throw new ConfigError(`${place} versions must have a version`);
  const read = list.map((one, at) => {
    if (!isObject(one)) throw new ConfigError(`${place} versions[${at}] must be an object with messages`);
    const { openai_prompt_id: _, ...others } = shared;
    return ofBody({ ...others, ...one }, `${place} versions[${at}]`, idOf(shared), report);
  });
  const numberOf = ({ version }: ImportedPrompt) => Number(version);
  return read.every((one) => Number.isFinite(numberOf(one)))
    ? read.toSorted((one, other) => numberOf(one) - numberOf(other))
    : read;
}

/** The body of a request, or what the dashboard shows of a prompt. */
function ofBody(body: Json, place: string, id: string | null, report: Report): ImportedPrompt {
  const { messages, instructions, input } = body;
  const parts = [
    ...(messages == null ? [] : messagesAt(messages, `${place} messages`)),
    ...said(instructions, 'system', `${place} instructions`),
    ...said(input, 'user', `${place} input`),
  ];
  if (parts.length === 0) throw new ConfigError(referenceAlone(place, id));
  const settings = { ...body, ...asObject(body['config']) };
  const fields = Object.fromEntries(Object.entries(settings).filter(([name]) => !labels.has(name)));
  return {
    messages: parts,
    model: modelName(settings['model']),
    policy: parametersOf(fields, place, report),
    version: versionOf(body),
  };
}

function versionOf(body: Json): string | null {
  const { version = asObject(body['prompt'])?.['version'] } = body;
  return typeof version === 'string' || typeof version === 'number' ? String(version) : null;
}

function referenceAlone(place: string, id: string | null): string {
  if (id === null) throw new ConfigError(`${place} has no messages, instructions or input`);
  return `${place} names the stored prompt ${id} without its text, and OpenAI has no API that reads it. Copy its messages from the dashboard into {"id": "${id}", "version": "…", "model": "…", "messages": […]}, or import an answer of a call with it (GET /v1/responses/resp_…), whose instructions hold the text`;
}

function said(value: unknown, role: Message['role'], place: string): Message[] {
  if (value === undefined || value === null || value === '') return [];
  return typeof value === 'string' ? [{ role, content: value }] : messagesAt(value, place);
}

/** An answer, whose `instructions` are the stored messages with the values of its variables. */
function ofResponse(body: Json, place: string, report: Report): ImportedPrompt {
  const { instructions, prompt } = body;
  const messages = said(instructions, 'system', `${place} instructions`);
  if (messages.length === 0)
    throw new ConfigError(`${place} has no instructions: it is an answer to a request without a prompt of its own`);
  // An answer also names defaults, which some models refuse in a request.
  const isDefault = (name: string) => ['temperature', 'top_p'].includes(name) && body[name] === 1;
  const fields = Object.fromEntries(answered.filter((name) => !isDefault(name)).map((name) => [name, body[name]]));
  return {
    messages: withVariables(messages, asObject(asObject(prompt)?.['variables']) ?? {}, report),
    model: modelName(body['model']),
    policy: parametersOf(fields, place, report),
    version: versionOf(body),
  };
}

/** `{{name}}` in place of the values that one call gave; longer ones first. */
function withVariables(messages: readonly Message[], variables: Json, report: Report): Message[] {
  const values = Object.entries(variables).map(([name, value]) => ({
    name,
    text: typeof value === 'string' ? value : asObject(value)?.['text'],
  }));
  let read = [...messages];
  for (const { name, text } of values.toSorted((one, other) => lengthOf(other.text) - lengthOf(one.text))) {
    const isThere = typeof text === 'string' && text !== '' && read.some(({ content }) => content.includes(text));
    if (!isThere) {
      report.leave(`the variable ${name}: its value is not found in the text; write {{${name}}} where it belongs`);
      continue;
    }
    const times = read.reduce((sum, { content }) => sum + content.split(text).length - 1, 0);
    report.note(
      `{{${name}}} stands where the answer had ${named(text)} (${times === 1 ? 'once' : `${times} times`}): check the text`,
    );
    read = read.map(({ content, ...message }) => ({
      ...message,
      content: content.replaceAll(text, () => `{{${name}}}`),
    }));
  }
  return read;
}

const lengthOf = (text: unknown) => (typeof text === 'string' ? text.length : 0);
