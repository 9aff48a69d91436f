/**
 * Rows whose input is a chat, as in files for evals and fine-tuning: a list of messages with a role
 * and a text. Where the column with the right answers is the input itself, the last turn of the
 * assistant is the right answer, and the messages before it are the input.
 */
import { isObject } from '../../util/json.js';
import type { Message } from './message.js';

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
  const name = value['role'].toLowerCase();
  const role = Object.hasOwn(roles, name) ? roles[name]! : null;
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

/** What keeps a list that looks like a chat from being one, such as `tools`; null: nothing. */
export function chatDoubt(value: unknown): string | null {
  if (!Array.isArray(value) || value.length === 0 || chatOf(value) !== null || !value.every(isObject)) return null;
  const messages = value as Record<string, unknown>[];
  if (messages.every((message) => 'from' in message && 'value' in message)) return 'the fields "from" and "value"';
  if (!messages.every((message) => typeof message['role'] === 'string')) return null;
  const isTool = ({ role, tool_calls: calls, function_call: call }: Record<string, unknown>) =>
    Boolean(calls) || Boolean(call) || role === 'tool' || role === 'function';
  if (messages.some(isTool)) return 'tools';
  const other = messages.find(({ role }) => !Object.hasOwn(roles, (role as string).toLowerCase()));
  if (other) return `the role "${String(other['role']).slice(0, 50)}"`;
  const parts = messages.find(({ content }) => Array.isArray(content));
  return parts ? 'parts that are no text' : 'messages without a text';
}
