import { asObject } from '../../util/json.js';
import { demoMessages, type Demo } from '../../core/prompts/demos.js';

/**
 * Inserts the demonstrations after the leading system or developer messages. Returns the messages
 * unchanged if they already contain them (sent by `prompt_template`) or there are none.
 */
export function insertDemos(messages: unknown[], demos: readonly Demo[]): unknown[] {
  if (demos.length === 0) return messages;
  const conversation = messages.findIndex(
    (message) => !['system', 'developer'].includes(String(fieldOf(message, 'role'))),
  );
  const at = conversation === -1 ? messages.length : conversation;
  const pairs = demos.flatMap(demoMessages);
  const there = pairs.every(({ role, content }, index) => {
    const message = messages[at + index];
    return fieldOf(message, 'role') === role && singleText(fieldOf(message, 'content')) === content;
  });
  return there ? messages : messages.toSpliced(at, 0, ...pairs);
}

function fieldOf(message: unknown, name: string): unknown {
  return asObject(message)?.[name];
}

/** The text of a content that is a string or a single text part. */
function singleText(content: unknown): unknown {
  if (!Array.isArray(content) || content.length !== 1) return content;
  return fieldOf(content[0], 'type') === 'text' ? fieldOf(content[0], 'text') : null;
}
