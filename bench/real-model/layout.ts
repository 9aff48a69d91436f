/** Lays out a chat as text that a base model continues. */
import type { ChatMessage } from '../worlds/task-texts.js';

/** The end of an answer. */
export const stop = '\n';

/** The instruction, then `Input:` and `Output:` of each message; the model writes the last one. */
export function layOut(messages: readonly ChatMessage[]): string {
  const instruction = messages.filter(({ role }) => role === 'system').map(({ content }) => content.trim());
  const turns = messages.flatMap(({ role, content }) => {
    if (role === 'user') return [`Input: ${oneLine(content)}`];
    return role === 'assistant' ? [`Output: ${oneLine(content)}\n`] : [];
  });
  return [...instruction, '', ...turns, 'Output:'].join('\n');
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, ' ');
}
