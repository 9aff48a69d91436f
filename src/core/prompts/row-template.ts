/** Prompts of jobs on a data set: `{{column}}` stands for a value of the row. */
import type { RowsSpec } from '../jobs/spec.js';
import type { Message } from './message.js';
import { chatDoubt, chatOf, splitAnswer } from './chat-rows.js';
import { isPlainName, parseTemplate, placeholderNames, renderTemplate, type IsInput } from './template.js';

/** The name of the column that a request names as its input. */
export const inputName = 'input';

/**
 * The columns that `{{name}}` can stand for; null: no column has this name. Names are compared
 * without surrounding white space and in Unicode's composed form.
 */
export function columnFinder(columns: readonly string[], input: string): (name: string) => string | null {
  const keys = new Map(columns.toReversed().map((column) => [keyOf(column), column]));
  return (name) => keys.get(keyOf(name === inputName ? input : name)) ?? null;
}

function keyOf(name: string): string {
  return name.trim().normalize();
}

/** The placeholders of a prompt whose columns are known: `RowsSpec.placeholders`. */
export function inputsOf(placeholders: Readonly<Record<string, string>>): IsInput {
  return (name) => Object.hasOwn(placeholders, name);
}

/** Without columns: braces around a plain name are taken for a placeholder. */
export const likelyInput: IsInput = isPlainName;

/** The distinct placeholder names of a prompt, in order. */
export function rowPlaceholders(messages: readonly Message[], isInput: IsInput): string[] {
  return [...new Set(messages.flatMap(({ content }) => placeholderNames(content, isInput)))];
}

/** Whether a text has nothing to rewrite: only placeholders and white space. */
export function isFixed(text: string, isInput: IsInput): boolean {
  const parts = parseTemplate(text, isInput);
  return parts.some((part) => typeof part !== 'string') && parts.every((part) => !isWords(part));
}

function isWords(part: unknown): boolean {
  return typeof part === 'string' && part.trim() !== '';
}

/** The names of the texts that a search may rewrite; all of a container's, or if all are fixed. */
export function rewritableNames(
  { rows }: { rows?: { placeholders: Readonly<Record<string, string>> } },
  texts: Readonly<Record<string, string>>,
): string[] {
  const names = Object.keys(texts);
  if (!rows) return names;
  const isInput = inputsOf(rows.placeholders);
  const rewritable = names.filter((name) => !isFixed(texts[name]!, isInput));
  return rewritable.length > 0 ? rewritable : names;
}

/**
 * The messages that a deployment serves. In place of messages that are only placeholders, callers
 * bring their own.
 */
export function servedMessages(messages: readonly Message[], isInput: IsInput): Message[] {
  return messages.filter(({ content }) => !isFixed(content, isInput));
}

/** The messages that callers bring in place of those that are only placeholders. */
export function callerMessages(messages: readonly Message[], isInput: IsInput): Message[] {
  const fixed = messages.filter(({ content }) => isFixed(content, isInput));
  return fixed.length > 0 ? fixed : [{ role: 'user', content: `{{${inputName}}}` }];
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
  if (chat) return splitAnswer(chat).answer;
  // A chat that cannot be read holds its answer somewhere.
  return isInput && chatDoubt(value) !== null ? undefined : value;
}

/**
 * The messages with the values of a row; null: longer than `maxChars`. A chat
 * takes the place of a user message that is its placeholder alone, and is JSON within a text.
 */
export function fillMessages(
  messages: readonly Message[],
  values: ReadonlyMap<string, string | Message[]>,
  maxChars: number,
): Message[] | null {
  const isInput = (name: string) => values.has(name);
  const textOf = (name: string) => {
    const value = values.get(name)!;
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  const filled = messages.flatMap((message): (Message | null)[] => {
    const [only, ...others] = parseTemplate(message.content.trim(), isInput);
    const chat = message.role === 'user' && typeof only === 'object' && others.length === 0 && values.get(only.name);
    if (Array.isArray(chat)) return chat;
    const content = renderTemplate(parseTemplate(message.content, isInput), textOf, maxChars);
    return content === null ? [null] : [{ ...message, content }];
  });
  return filled.includes(null) ? null : (filled as Message[]);
}
