/** The models of a promptfooconfig.yaml, and their settings as parameters of the policy. */
import { closestName } from '../../../contracts/close-names.js';
import { isConnectionField } from '../../../contracts/common.js';
import { asObject, isObject } from '../../../util/json.js';
import type { PromptfooFile } from './file.js';

export interface NamedModel {
  /** As in the file. */
  id: string;
  label: string | null;
  /** `provider/model`; null: it does not map. */
  name: string | null;
  config: Readonly<Record<string, unknown>>;
  /** Fields of the provider that change its answers. */
  others: readonly string[];
}

/** Providers whose name is another here. */
const renamed: Readonly<Record<string, string>> = {
  azureopenai: 'azure',
  palm: 'google',
  togetherai: 'together',
  hf: 'huggingface',
};
/** What is no model of a provider. */
const programs = [
  'http',
  'https',
  'ws',
  'wss',
  'exec',
  'python',
  'ruby',
  'golang',
  'file',
  'webhook',
  'browser',
  'mcp',
  'package',
  'promptfoo',
  'echo',
  'sequence',
  'manual-input',
  'langfuse',
  'portkey',
  'openclaw',
  'f5',
  'opencode',
  'openinterpreter',
  'a2a',
  'n8n',
  'slack',
  'bedrock-agent',
  'transformers',
  'embedding',
  'voyage',
  'fal',
  'elevenlabs',
  'modelslab',
  'quiverai',
];
/** Kinds of calls before a model's name: those of chats, and others. */
const chatKinds = ['chat', 'messages', 'responses', 'converse'];
const otherKinds = [
  'completion',
  'completions',
  'embedding',
  'embeddings',
  'image',
  'video',
  'realtime',
  'assistant',
  'moderation',
  'audio',
  'speech',
  'transcription',
  'live',
  'agents',
  'agent',
  'codex-sdk',
  'claude-agent-sdk',
  'claude-code',
  'text-generation',
  'text-classification',
  'feature-extraction',
  'workflow',
  'tts',
  'knowledge-base',
];

/** `openai:chat:gpt-6-luna` as `openai/gpt-6-luna`; null: no model that chats. */
function modelName(id: string): string | null {
  const [provider = '', kind = '', ...rest] = id.split(':');
  if (!/^[a-z][\w-]*:(?!\/\/)/.test(id) || programs.includes(provider) || otherKinds.includes(kind)) return null;
  const model = (chatKinds.includes(kind) ? rest : [kind, ...rest]).join(':');
  return model === '' ? null : `${renamed[provider] ?? provider}/${model}`;
}

/** Fields of an entry beside its settings: those without effect on an answer. */
const entryFields = ['id', 'label', 'config', 'delay', 'description', 'env', 'name', 'inputs', 'metadata'];

/** All models, in their order. */
export function modelsOf(file: PromptfooFile, given: unknown): NamedModel[] {
  const entries = given == null ? [] : Array.isArray(given) ? (given as unknown[]) : [given];
  return entries.map((entry): NamedModel => {
    const keys = isObject(entry) ? Object.keys(entry) : [];
    // Also `openai:chat:gpt-6-luna: {config: …}`.
    const isMap = isObject(entry) && keys.length === 1 && keys[0] !== 'config' && isObject(entry[keys[0]!]);
    const fields = isMap ? { id: keys[0], ...asObject(entry[keys[0]!]) } : isObject(entry) ? entry : { id: entry };
    const { id, label, config } = fields as Record<string, unknown>;
    const text = typeof id === 'string' ? id : JSON.stringify(id ?? entry);
    const settings = asObject(config ?? {});
    if (!settings) throw file.fault(`has a provider ${text} whose config is no object; write its settings`);
    const { model } = settings;
    const name = modelName(text) ?? (typeof model === 'string' ? modelName(`${text}:${model}`) : null);
    const { model: _, ...others } = settings;
    return {
      id: text,
      label: typeof label === 'string' ? label : null,
      name,
      config: modelName(text) === null && name !== null ? others : settings,
      others: Object.keys(fields).filter((field) => !entryFields.includes(field)),
    };
  });
}

/** The entry that `name` means: by id, label or name; null: another model is meant. */
export function namedModel(models: readonly NamedModel[], name: string): NamedModel | null {
  return (
    models.find(({ id, label }) => id === name || label === name) ?? models.find((one) => one.name === name) ?? null
  );
}

/** The models by the names that choose them. */
export function listOfModels(models: readonly NamedModel[]): string {
  return models
    .filter((one) => one.name !== null)
    .slice(0, 10)
    .map(nameOf)
    .join(', ');
}

export const nameOf = ({ label, id, name }: NamedModel) => label ?? name ?? id;

/** Parameters by promptfoo's names of them. */
export const parameters: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'temperature',
      'max_tokens',
      'max_completion_tokens',
      'top_p',
      'top_k',
      'min_p',
      'seed',
      'stop',
      'n',
      'presence_penalty',
      'frequency_penalty',
      'repetition_penalty',
      'response_format',
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'reasoning_effort',
      'reasoning',
      'verbosity',
      'logit_bias',
      'logprobs',
      'top_logprobs',
      'service_tier',
      'thinking',
      'user',
      'metadata',
      'store',
      'modalities',
      'provider_options',
      'prediction',
      'extra_body',
      'chat_template_kwargs',
      'web_search_options',
      'safety_settings',
      'think',
    ].map((name) => [name, name]),
  ),
  maxTokens: 'max_tokens',
  max_new_tokens: 'max_tokens',
  max_output_tokens: 'max_tokens',
  num_predict: 'max_tokens',
  maxOutputTokens: 'max_tokens',
  topP: 'top_p',
  topK: 'top_k',
  stopSequences: 'stop',
  stop_sequences: 'stop',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  responseFormat: 'response_format',
  toolChoice: 'tool_choice',
  reasoningEffort: 'reasoning_effort',
  repeat_penalty: 'repeat_penalty',
  num_ctx: 'num_ctx',
};
/** Objects of parameters. */
const nested = ['options', 'generationConfig', 'passthrough', 'inferenceConfig'];
/** Address, key, price and report: the service's, or without effect on an answer. */
const unread = [
  'apiKeyEnvar',
  'apiKeyRequired',
  'apiBaseUrlEnvar',
  'cost',
  'inputCost',
  'outputCost',
  'showThinking',
  'timeout',
  'region',
  'project',
  'projectId',
  'location',
  'deployment_id',
  'stream',
  'maxRetries',
  'retries',
  'delay',
  'credentials',
  'profile',
  'accessKeyId',
  'secretAccessKey',
  'sessionToken',
  'audience',
  'keep_alive',
  'cache',
  'apiBaseUrl',
  'maxConcurrency',
  'concurrency',
  'azureClientId',
  'azureTenantId',
  'azureClientSecret',
  'omitDefaults',
  'basePath',
  'type',
];

export interface Settings {
  parameters: Record<string, unknown>;
  /** Settings that are not read and do not change answers. */
  unread: string[];
  /** Settings that may change answers. */
  unknown: string[];
}

/** The settings of a provider as parameters of the policy. */
export async function settingsOf(file: PromptfooFile, config: NamedModel['config']): Promise<Settings> {
  const all: Settings = { parameters: {}, unread: [], unknown: [] };
  for (const [name, value] of Object.entries(config)) {
    const inside = nested.includes(name) ? asObject(value) : null;
    if (value == null) continue;
    if (inside && name === 'passthrough') Object.assign(all.parameters, inside);
    else if (inside) {
      const { parameters: more, unread: skipped, unknown } = await settingsOf(file, inside);
      Object.assign(all.parameters, more);
      all.unread.push(...skipped);
      all.unknown.push(...unknown);
    } else if (Object.hasOwn(parameters, name)) all.parameters[parameters[name]!] = await file.value(value, name);
    else if (unread.includes(name) || isConnectionField(name)) all.unread.push(name);
    else all.unknown.push(name);
  }
  return all;
}

/** The refusal of settings that may change answers. */
export function unknownSettings({ id, name }: NamedModel, unknown: readonly string[]): string {
  const [first = ''] = unknown;
  const meant = closestName(first, Object.keys(parameters));
  const hint = meant === null ? '' : ` (did you mean ${meant}?)`;
  return `has the settings ${unknown.join(', ')}${hint} of ${id}, which do not map; remove them, or leave them out with --model ${name ?? 'provider/model'}`;
}
