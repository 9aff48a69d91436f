/** A prompt's messages as components, each a text with a name, and back. */
import type { Message } from '../jobs/spec.js';

/** What a component may be called, for a regular expression. */
export const componentNamePattern = '[A-Za-z][A-Za-z0-9_-]{0,63}';
export const componentName = new RegExp(`^${componentNamePattern}$`);

/** Of one prompt. */
export const maxComponents = 20;

/**
 * The component that each message is, in their order: its own name, else its role, with a number from the second of that
 * role on (`system`, `system_2`, `user`).
 */
export function componentNames(messages: readonly Pick<Message, 'role' | 'name'>[]): string[] {
  const counts = new Map<string, number>();
  return messages.map(({ role, name }) => {
    if (name !== undefined) return name;
    const count = (counts.get(role) ?? 0) + 1;
    counts.set(role, count);
    return count === 1 ? role : `${role}_${count}`;
  });
}

/** Component to text; empty while the prompt is not known. */
export function componentTexts(messages: readonly Message[] | null): Record<string, string> {
  const all = messages ?? [];
  const names = componentNames(all);
  return Object.fromEntries(all.map(({ content }, index) => [names[index]!, content]));
}

/** The messages with other texts; a component that is not among these keeps its own. */
export function withTexts(messages: readonly Message[], texts: Readonly<Record<string, string>>): Message[] {
  const names = componentNames(messages);
  return messages.map((message, index) => {
    const name = names[index]!;
    // A component may be called `constructor`.
    return { ...message, content: Object.hasOwn(texts, name) ? texts[name]! : message.content };
  });
}
