/** Messages of OpenAI's requests, templates and samples. */
import type { Message } from '../../core/prompts/message.js';
import { ConfigError } from '../../service/config.js';
import { isObject } from '../../util/json.js';

const roles: Readonly<Record<string, Message['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

/** Null: a part is no text. */
export function textOfContent(content: unknown): string | null {
  if (typeof content === 'string') return content;
  const parts: unknown[] = Array.isArray(content) ? content : [content];
  const texts = parts.map((part) => {
    if (typeof part === 'string') return part;
    return isObject(part) && typeof part['text'] === 'string' ? part['text'] : null;
  });
  return texts.length === 0 || texts.includes(null) ? null : texts.join('\n');
}

/** Null: it is no message, or one with tools, pictures or another role. */
function messageOf(value: unknown): Message | null {
  if (!isObject(value) || typeof value['role'] !== 'string' || value['tool_calls']) return null;
  const role = roles[value['role'].toLowerCase()];
  const content = textOfContent(value['content']);
  return role === undefined || content === null ? null : { role, content };
}

/** Null: one of them is no message of a text. */
export function chatOf(value: unknown): Message[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const messages = value.map((one: unknown) => messageOf(one));
  return messages.includes(null) ? null : (messages as Message[]);
}

/** Whether a list looks like messages, whatever they hold. */
export function looksLikeChat(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => isObject(one) && 'role' in one);
}

/** Throws a ConfigError that names the faulty message. */
export function messagesAt(value: unknown, place: string): Message[] {
  if (!Array.isArray(value) || value.length === 0) throw new ConfigError(`${place} must be a list of messages`);
  return value.map((one: unknown, at) => {
    const message = messageOf(one);
    if (message) return message;
    const role = isObject(one) ? one['role'] : undefined;
    throw new ConfigError(
      `${place}[${at}] must have a role (system, developer, user or assistant) and a text; it has the role ${JSON.stringify(role)}, tools or parts that are no text`,
    );
  });
}
