/** A prompt for promptfoo, which renders each message as a Nunjucks template, and so runs code. */
import type { Message } from '../../core/prompts/message.js';
import { columnFinder, rowPlaceholders } from '../../core/prompts/row-template.js';
import { isPlainName, parseTemplate, type IsInput } from '../../core/prompts/template.js';
import { literal, variableName } from './promptfoo-text.js';
import { assertionsOf, testsOf, type PromptfooRows } from './promptfoo-tests.js';

interface PromptfooSource {
  messages: readonly Message[];
  policy: { provider: string; model: string };
  /** The columns of the rows; empty: a container has them. */
  inputs: readonly string[];
  /** null: a container has them. */
  tests: PromptfooRows | null;
}

/** A promptfooconfig.yaml: JSON is YAML. */
export function promptfooConfig({ messages, policy, inputs, tests }: PromptfooSource): string {
  const assert = tests && assertionsOf(tests);
  const notes = [
    policy.provider === 'local' && 'The model local runs in Ratchet alone: name another provider.',
    tests && !assert && 'promptfoo has no assertion for the scorer of this run: add one.',
  ].filter((note) => typeof note === 'string');
  const config = {
    ...(notes.length > 0 && { description: notes.join(' ') }),
    prompts: [JSON.stringify(promptfooMessages(messages, inputs))],
    providers: [promptfooProvider(policy)],
    ...(tests && {
      // A list of right answers is no test for each of them.
      defaultTest: { options: { disableVarExpansion: true }, ...(assert && { assert }) },
      tests: testsOf(tests, columnsOf(messages, inputs, tests.input)),
    }),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** The columns that the messages name, by their placeholders. */
function columnsOf(messages: readonly Message[], inputs: readonly string[], input: string): Map<string, string> {
  const columnOf = columnFinder(inputs, input);
  const names = rowPlaceholders(messages, (name) => columnOf(name) !== null);
  return new Map(names.map((name) => [name, columnOf(name)!]));
}

/** Providers that promptfoo has, by the beginning of their ids there. */
const known: Readonly<Record<string, string>> = {
  local: 'local:',
  openai: 'openai:chat:',
  anthropic: 'anthropic:messages:',
  azure: 'azure:chat:',
  together: 'togetherai:',
  ollama: 'ollama:chat:',
  ...Object.fromEntries(
    [
      'google',
      'vertex',
      'bedrock',
      'openrouter',
      'groq',
      'mistral',
      'deepseek',
      'xai',
      'fireworks',
      'cerebras',
      'perplexity',
      'litellm',
    ].map((name) => [name, `${name}:`]),
  ),
};

/** Any other one speaks OpenAI's API, at the address and with the key that the service has, too. */
function promptfooProvider({ provider, model }: PromptfooSource['policy']): string | object {
  const prefix = known[provider];
  if (prefix !== undefined) return `${prefix}${model}`;
  const variables = provider.toUpperCase().replaceAll('-', '_');
  return {
    id: `openai:chat:${model}`,
    label: `${provider}/${model}`,
    config: { apiBaseUrl: `{{env.${variables}_BASE_URL}}`, apiKeyEnvar: `${variables}_API_KEY` },
  };
}

/**
 * Messages that Nunjucks renders to what the service sends. `inputs`: the columns; empty: a
 * container's prompt, whose `{{name}}` stay variables.
 */
export function promptfooMessages(messages: readonly Message[], inputs: readonly string[]): Message[] {
  const columnOf = columnFinder(inputs, 'input');
  const isInput: IsInput = inputs.length > 0 ? (name) => columnOf(name) !== null : isPlainName;
  return messages.map((message) => ({ ...message, content: nunjucksText(message.content, isInput) }));
}

/** Variables for placeholders; any other opening or closing of a tag is a quoted brace. */
function nunjucksText(text: string, isInput: IsInput): string {
  return parseTemplate(text, isInput)
    .map((part) => (typeof part === 'string' ? literal(part) : `{{${variableName(part.name)}}}`))
    .join('');
}
