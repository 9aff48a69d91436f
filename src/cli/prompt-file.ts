/** The file of a prompt: a text, or JSON with messages. */
import { extname } from 'node:path';

export interface Prompt {
  messages: readonly { role: string; content: string }[];
}

const hasPlaceholder = (text: string) => /\{\{[^{}]+\}\}/.test(text);

/** A text with placeholders is the user message; any other is the system message. */
export function promptOfText(text: string): Prompt {
  return { messages: [{ role: hasPlaceholder(text) ? 'user' : 'system', content: text }] };
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
