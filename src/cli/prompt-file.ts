/** The file of a prompt: a text, or JSON with messages. */
import { createTwoFilesPatch } from 'diff';
import { extname } from 'node:path';
import type { Message } from '../core/jobs/spec.js';
import { rowPlaceholders, servedMessages } from '../core/prompts/row-template.js';

export interface Prompt {
  messages: readonly Message[];
}

/** A text with placeholders is the user message; any other is the system message. */
export function promptOfText(text: string): Prompt {
  const user: Message = { role: 'user', content: text };
  return { messages: [rowPlaceholders([user]).length > 0 ? user : { ...user, role: 'system' }] };
}

/** The form of a prompt's file: a text if reading it gives the same prompt, otherwise JSON. */
export function promptText({ messages }: Prompt, path: string): string {
  const [first, ...others] = messages;
  const content = first?.content.trim() ?? '';
  const [read] = promptOfText(content).messages;
  // A row's input follows a system message without placeholders.
  const isInput = others.length === 1 && others[0]!.role === 'user' && others[0]!.content === '{{input}}';
  const isText = first?.role === read!.role && (others.length === 0 || (isInput && read!.role === 'system'));
  return extname(path) !== '.json' && isText ? `${content}\n` : `${JSON.stringify({ messages }, null, 2)}\n`;
}

/** The messages of a text that is the JSON form; null: it is a text. */
export function messagesIn(text: string): Prompt | null {
  try {
    const parsed = JSON.parse(text) as Partial<Prompt> | null;
    return Array.isArray(parsed?.messages) ? (parsed as Prompt) : null;
  } catch {
    return null;
  }
}

/** The difference of two prompts, without messages that are only placeholders; null: none. */
export function promptDiff(before: Prompt, after: Prompt, names: readonly [string, string]): string | null {
  const [old, changed] = [before, after].map(
    ({ messages }) =>
      `${servedMessages(messages)
        .map(({ content }) => content)
        .join('\n\n')}\n`,
  );
  return old === changed ? null : createTwoFilesPatch(...names, old!, changed!, undefined, undefined, { context: 2 });
}
