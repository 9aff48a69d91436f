/** The file of a prompt: a text, or JSON with messages. */
import { createTwoFilesPatch } from 'diff';
import { extname } from 'node:path';
import { z } from 'zod';
import { messageSchema } from '../../contracts/common.js';
import type { Message } from '../../core/prompts/message.js';
import { likelyInput, rowPlaceholders, servedMessages } from '../../core/prompts/row-template.js';

export interface Prompt {
  messages: readonly Message[];
}

/** A text with likely placeholders is the user message; any other is the system message. */
export function promptOfText(text: string): Prompt {
  const user: Message = { role: 'user', content: text };
  return { messages: [rowPlaceholders([user], likelyInput).length > 0 ? user : { ...user, role: 'system' }] };
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

const messagesForm = z.array(messageSchema).min(1);
const promptForm = z.union([
  messagesForm.transform((messages) => ({ messages })),
  z.object({ messages: messagesForm }),
]);

/** The prompt of JSON: a list of messages, or an object with it; null: another value. */
export function promptOfJson(value: unknown): Prompt | null {
  return promptForm.safeParse(value).data ?? null;
}

/** The messages of a text that is the JSON form; null: it is a text. */
export function messagesIn(text: string): Prompt | null {
  try {
    return promptOfJson(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The difference of two prompts, without messages that are only placeholders; null: none. */
export function promptDiff(before: Prompt, after: Prompt, names: readonly [string, string]): string | null {
  const [old, changed] = [before, after].map(
    ({ messages }) =>
      `${servedMessages(messages, likelyInput)
        .map(({ content }) => content)
        .join('\n\n')}\n`,
  );
  return old === changed ? null : createTwoFilesPatch(...names, old!, changed!, undefined, undefined, { context: 2 });
}
