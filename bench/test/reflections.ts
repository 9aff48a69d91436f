/** Reflection prompts of the compared optimizers. */
import { buildReflection, parseProposal } from '../../src/core/proposals/reflection.js';
import type { Approach } from '../../src/core/proposals/approach.js';

/** The service's reflection prompt. */
export function servicePrompt(instruction: string, feedbacks: string[], approach: Approach = 'revise'): string {
  const examples = feedbacks.map((feedback, n) => ({ input: `seed ${n}`, output: '', feedback, reward: 0 }));
  const [message] = buildReflection({ instruction, examples, approach });
  return message!.content;
}

/** The prompt of `gepa` 0.1.4: `InstructionProposalSignature`'s default template, shortened. */
export function gepaPrompt(instruction: string, feedbacks: string[]): string {
  const shown = feedbacks.map(
    (feedback, n) =>
      `# Example ${n + 1}\n## Inputs\nseed ${n}\n\n## Generated Outputs\n\n\n## Feedback\n${feedback}\n\n## Reward\n0.0\n\n`,
  );
  return (
    `I provided an assistant with the following instructions to perform a task for me:\n\`\`\`\n${instruction}\n\`\`\`\n\n` +
    `The following are examples of different task inputs provided to the assistant along with the assistant's response ` +
    `for each of them, and some feedback on how the assistant's response could be better:\n\`\`\`\n${shown.join('\n\n')}\n\`\`\`\n\n` +
    'Your task is to write a new instruction for the assistant.\n\nProvide the new instructions within ``` blocks.'
  );
}

/** The new instruction in an answer; throws if there is none. */
export function proposalOf(answer: string, parent: string): string {
  const parsed = parseProposal(answer, { parent, maxChars: 32_000, finishReason: 'stop' });
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.text;
}
