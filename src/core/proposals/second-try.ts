/**
 * A second question after an unusable answer: identical prompts yield identical answers at
 * temperature 0, so the prompt includes the error.
 */
import type { Message } from '../prompts/message.js';

const maxShown = 16_000;

/** The form of a new text, as `buildReflection` asks for it. */
export const textForm = 'the whole text inside ``` fences, nothing of it outside of them';

/** `form`: the form of the answer, as the question demands it. */
export function askAgain(question: readonly Message[], answer: string, reason: string, form: string): Message[] {
  const shown = answer.trim() === '' ? '(no text)' : answer.slice(0, maxShown).replace(/[\uD800-\uDBFF]$/, '');
  // This advice is for the operator.
  const fault = reason.replace(': allow the proposer more tokens', '; be briefer');
  return [
    ...question,
    { role: 'assistant', content: shown },
    { role: 'user', content: `Your answer cannot be used: ${fault}. Answer again: ${form}.` },
  ];
}
