import { asObject } from '../../clients/net/untrusted.js';
import { demoMessages, type Demo } from '../../core/prompts/demos.js';

/**
 * A request's messages with the demonstrations after its leading system or developer messages; these very messages where they have
 * them there already (a container that sends what `prompt_template` says), or there are none.
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
    return fieldOf(message, 'role') === role && textOf(fieldOf(message, 'content')) === content;
  });
  return there ? messages : messages.toSpliced(at, 0, ...pairs);
}

function fieldOf(message: unknown, name: string): unknown {
  return asObject(message)?.[name];
}

/** The text of a content that is a text, or one text part. */
function textOf(content: unknown): unknown {
  if (!Array.isArray(content) || content.length !== 1) return content;
  return fieldOf(content[0], 'type') === 'text' ? fieldOf(content[0], 'text') : null;
}
