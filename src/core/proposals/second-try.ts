/** What the proposer is told when its answer was no use: asked the very same again, a model at temperature 0 says the same again. */
import type { Message } from '../jobs/spec.js';

const maxShown = 16_000;

/** The request after an answer that was not usable for `reason`: the first question, that answer, and what was wrong with it. */
export function askAgain(question: readonly Message[], answer: string, reason: string): Message[] {
  const said = answer.trim() === '' ? '(no text)' : answer.slice(0, maxShown).replace(/[\uD800-\uDBFF]$/, '');
  // The advice in it is the operator's.
  const fault = reason.replace(': allow the proposer more tokens', '; be briefer');
  return [
    ...question,
    { role: 'assistant', content: said },
    {
      role: 'user',
      content: `Your answer cannot be used: ${fault}. Answer again: the whole text inside \`\`\` fences, nothing of it outside of them.`,
    },
  ];
}
