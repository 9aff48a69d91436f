/** Prompts of jobs on a data set: `{{name}}` stands for a value of the row. */
import { canonicalJson } from '../../util/json.js';
import type { Message } from '../jobs/spec.js';
import { columnPlaceholder, parseTemplate, placeholderNames, renderTemplate } from './template.js';

/** The distinct placeholder names of a prompt, in order. */
export function rowPlaceholders(messages: readonly Message[]): string[] {
  return [...new Set(messages.flatMap(({ content }) => placeholderNames(content, columnPlaceholder)))];
}

/** Whether a text has nothing to rewrite: only placeholders and white space. */
export function isFixed(text: string): boolean {
  const parts = parseTemplate(text, columnPlaceholder);
  return parts.some((part) => typeof part !== 'string') && parts.every((part) => !isWords(part));
}

function isWords(part: unknown): boolean {
  return typeof part === 'string' && part.trim() !== '';
}

/** The names of the texts that a search may rewrite; all of a container's, or if all are fixed. */
export function rewritableNames({ rows }: { rows?: unknown }, texts: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(texts);
  if (!rows) return names;
  const rewritable = names.filter((name) => !isFixed(texts[name]!));
  return rewritable.length > 0 ? rewritable : names;
}

/**
 * The messages that a deployment serves. In place of messages that are only placeholders, callers
 * bring their own.
 */
export function servedMessages(messages: readonly Message[]): Message[] {
  return messages.filter(({ content }) => !isFixed(content));
}

/** The messages that callers bring in place of those that are only placeholders. */
export function callerMessages(messages: readonly Message[]): Message[] {
  const fixed = messages.filter(({ content }) => isFixed(content));
  return fixed.length > 0 ? fixed : [{ role: 'user', content: '{{input}}' }];
}

/** The texts of a row for the placeholders, by name; empty where the row has no value. */
export function rowValues(
  row: Readonly<Record<string, unknown>>,
  placeholders: Readonly<Record<string, string>>,
): Map<string, string> {
  // A row without the column `constructor` inherits one.
  const valueOf = (column: string) => (Object.hasOwn(row, column) ? row[column] : null) ?? '';
  const textOf = (value: unknown) => (typeof value === 'string' ? value : canonicalJson(value));
  return new Map(Object.entries(placeholders).map(([name, column]) => [name, textOf(valueOf(column))]));
}

/** The messages with the values of a row; null: longer than `maxChars`. Unknown names stay. */
export function fillMessages(
  messages: readonly Message[],
  values: ReadonlyMap<string, string>,
  maxChars: number,
): Message[] | null {
  const valueOf = (name: string) => values.get(name) ?? `{{${name}}}`;
  const filled = messages.map((message) => {
    const content = renderTemplate(parseTemplate(message.content, columnPlaceholder), valueOf, maxChars);
    return content === null ? null : { ...message, content };
  });
  return filled.includes(null) ? null : (filled as Message[]);
}
