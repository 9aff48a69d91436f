/** ChatML, the layout that Qwen's instruct models are trained on. */
import type { ChatMessage } from '../../worlds/task-texts.js';

const defaultSystem = 'You are a helpful assistant.';

/** Messages of a piece; answers depend on it. */
export const pieceLength = 8;

/**
 * The chat as text up to the assistant's answer: what stands before its last message, in pieces,
 * and the rest. Special tokens in contents lose their meaning.
 */
export function layOut(messages: readonly ChatMessage[]): { before: string[]; rest: string } {
  const system = messages.some(({ role }) => role === 'system') ? [] : [{ role: 'system', content: defaultSystem }];
  const turns = [...system, ...messages].map(({ role, content }) => {
    return `<|im_start|>${role}\n${content.replaceAll('<|', '< |')}<|im_end|>\n`;
  });
  const last = turns.pop()!;
  const starts = Array.from({ length: Math.ceil(turns.length / pieceLength) }, (_, index) => index * pieceLength);
  const before = starts.map((start) => turns.slice(start, start + pieceLength).join(''));
  return { before, rest: `${last}<|im_start|>assistant\n` };
}
