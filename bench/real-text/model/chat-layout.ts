/** ChatML, the layout that Qwen's instruct models are trained on. */
import type { ChatMessage } from '../../worlds/task-texts.js';

const defaultSystem = 'You are a helpful assistant.';

/**
 * The chat as text up to the assistant's answer, the part before its last message apart: prompts
 * share it. Special tokens in contents lose their meaning.
 */
export function layOut(messages: readonly ChatMessage[]): { beginning: string; rest: string } {
  const system = messages.some(({ role }) => role === 'system') ? [] : [{ role: 'system', content: defaultSystem }];
  const turns = [...system, ...messages].map(({ role, content }) => {
    return `<|im_start|>${role}\n${content.replaceAll('<|', '< |')}<|im_end|>\n`;
  });
  const last = turns.pop()!;
  return { beginning: turns.join(''), rest: `${last}<|im_start|>assistant\n` };
}
