/**
 * Rows whose input is a chat, as in files for evals and fine-tuning: a list of messages with a role
 * and a text. Where the column with the right answers is the input itself, the last turn of the
 * assistant is the right answer, and the messages before it are the input.
 */
import { isObject } from '../../util/json.js';
import type { Message } from '../jobs/spec.js';

const roles: Readonly<Record<string, Message['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

/** The messages of a value; null: it is no chat, or one with tools or images. */
export function chatOf(value: unknown): Message[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const messages = value.map((message: unknown) => messageOf(message));
  return messages.includes(null) ? null : (messages as Message[]);
}

function messageOf(value: unknown): Message | null {
  if (!isObject(value) || typeof value['role'] !== 'string' || value['tool_calls'] || value['function_call'])
    return null;
  const role = Object.hasOwn(roles, value['role']) ? roles[value['role']]! : null;
  const content = textOf(value['content']);
  return role === null || content === null ? null : { role, content };
}

/** A text, or the texts of its parts. */
function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const texts = content.map((part: unknown) =>
    isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string' ? part['text'] : null,
  );
  return texts.includes(null) ? null : texts.join('\n');
}

/** A chat without its last turn of the assistant, and the text of that turn (undefined: none). */
export function splitAnswer(messages: readonly Message[]): { input: Message[]; answer: string | undefined } {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return { input: [...messages], answer: undefined };
  return { input: messages.slice(0, -1), answer: last.content };
}
