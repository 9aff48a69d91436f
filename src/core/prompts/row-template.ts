/** Prompts of jobs on a data set: `{{name}}` stands for a value of the row. */
import type { Message, RowsSpec } from '../jobs/spec.js';
import { chatOf, splitAnswer } from './chat-rows.js';
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

/** The columns of a job, by their parts. */
export type RowColumns = Pick<RowsSpec, 'placeholders' | 'expected'>;

/**
 * The values of a row for the placeholders, by name: a text or a chat; empty where the row has
 * none. Objects keep the order of their fields.
 */
export function rowValues(
  row: Readonly<Record<string, unknown>>,
  { placeholders, expected }: RowColumns,
): Map<string, string | Message[]> {
  const valueOf = (column: string) => {
    // A row without the column `constructor` inherits one.
    const value = (Object.hasOwn(row, column) ? row[column] : null) ?? '';
    if (typeof value === 'string') return value;
    const chat = chatOf(value);
    if (!chat) return JSON.stringify(value);
    return column === expected ? splitAnswer(chat).input : chat;
  };
  return new Map(Object.entries(placeholders).map(([name, column]) => [name, valueOf(column)]));
}

/** The right answer of a value in the expected column; undefined: none. */
export function expectedOf(value: unknown, { placeholders, expected }: RowColumns): unknown {
  if (value === '') return undefined;
  const isInput = expected !== null && Object.values(placeholders).includes(expected);
  const chat = isInput ? chatOf(value) : null;
  return chat ? splitAnswer(chat).answer : value;
}

/**
 * The messages with the values of a row; null: longer than `maxChars`. Unknown names stay. A chat
 * takes the place of a user message that is its placeholder alone, and is JSON within a text.
 */
export function fillMessages(
  messages: readonly Message[],
  values: ReadonlyMap<string, string | Message[]>,
  maxChars: number,
): Message[] | null {
  const textOf = (name: string) => {
    const value = values.get(name) ?? `{{${name}}}`;
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  const filled = messages.flatMap((message): (Message | null)[] => {
    const [only, ...others] = parseTemplate(message.content.trim(), columnPlaceholder);
    const chat = message.role === 'user' && typeof only === 'object' && others.length === 0 && values.get(only.name);
    if (Array.isArray(chat)) return chat;
    const content = renderTemplate(parseTemplate(message.content, columnPlaceholder), textOf, maxChars);
    return content === null ? [null] : [{ ...message, content }];
  });
  return filled.includes(null) ? null : (filled as Message[]);
}
