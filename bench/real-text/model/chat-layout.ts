/** ChatML, the layout that Qwen's instruct models are trained on. */
import type { ChatMessage } from '../../worlds/task-texts.js';

const defaultSystem = 'You are a helpful assistant.';

/** The chat as text up to the assistant's answer; special tokens in contents lose their meaning. */
export function layOut(messages: readonly ChatMessage[]): string {
  const system = messages.some(({ role }) => role === 'system') ? [] : [{ role: 'system', content: defaultSystem }];
  const turns = [...system, ...messages].map(({ role, content }) => {
    return `<|im_start|>${role}\n${content.replaceAll('<|', '< |')}<|im_end|>\n`;
  });
  return `${turns.join('')}<|im_start|>assistant\n`;
}
