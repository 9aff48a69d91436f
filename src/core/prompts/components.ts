/** Converts a prompt's messages to named component texts and back. */
import type { Message } from './message.js';

/** Valid component names, as a regular expression source. */
export const componentNamePattern = '[A-Za-z][A-Za-z0-9_-]{0,63}';
export const componentName = new RegExp(`^${componentNamePattern}$`);

export const maxComponents = 20;

/**
 * The component name of each message: its own, else its role, numbered from the role's second
 * message (`system`, `system_2`, `user`).
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

/** Component names to texts; empty while the prompt is unknown. */
export function componentTexts(messages: readonly Message[] | null): Record<string, string> {
  const all = messages ?? [];
  const names = componentNames(all);
  return Object.fromEntries(all.map(({ content }, index) => [names[index]!, content]));
}

export function withTexts(messages: readonly Message[], texts: Readonly<Record<string, string>>): Message[] {
  const names = componentNames(messages);
  return messages.map((message, index) => {
    const name = names[index]!;
    // A component may be named `constructor`.
    return { ...message, content: Object.hasOwn(texts, name) ? texts[name]! : message.content };
  });
}
