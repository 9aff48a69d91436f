/** A prompt for promptfoo, which renders each message as a Nunjucks template, and so runs code. */
import type { Message } from '../../core/prompts/message.js';
import { columnFinder } from '../../core/prompts/row-template.js';
import { isPlainName, parseTemplate, type IsInput } from '../../core/prompts/template.js';

interface PromptfooSource {
  messages: readonly Message[];
  policy: { provider: string; model: string };
  /** The columns of the rows; empty: a container has them. */
  inputs: readonly string[];
}

/** A promptfooconfig.yaml: JSON is YAML. */
export function promptfooConfig({ messages, policy, inputs }: PromptfooSource): string {
  const config = {
    prompts: [JSON.stringify(promptfooMessages(messages, inputs))],
    providers: [`${policy.provider}:${policy.model}`],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
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

function literal(text: string): string {
  return text.replace(/\{(?=[{%#]|$)|#(?=\})/g, (sign) => `{{ '${sign}' }}`);
}

const reserved = new Set([
  'true',
  'false',
  'none',
  'null',
  'and',
  'or',
  'not',
  'in',
  'is',
  'if',
  'else',
  'loop',
  'super',
  'caller',
  'range',
  'cycler',
  'joiner',
  'env',
  ...Object.getOwnPropertyNames(Object.prototype),
]);

/** The variable of a column: letters, digits and `_`, as Nunjucks reads names. */
export function variableName(column: string): string {
  const name = column
    .trim()
    .normalize()
    .replace(/[^\p{L}\p{M}\p{N}_]/gu, '_');
  return /^\p{N}/u.test(name) || reserved.has(name) ? `_${name}` : name;
}
