/**
 * A second question after an unusable answer: identical prompts yield identical answers at
 * temperature 0, so the prompt includes the error.
 */
import type { Message } from '../prompts/message.js';

const maxShown = 16_000;

/** The form of a new text, as `buildReflection` asks for it. */
export const textForm = 'the whole text inside ``` fences, nothing of it outside of them';

export interface UnusableAnswer {
  text: string;
  reason: string;
}

/**
 * The next question; `form`: the form of the answer, as the question demands it. After the same
 * fault twice the question says it and shows no answer: a model repeats the form that it sees.
 */
export function askAgain(question: readonly Message[], answers: readonly UnusableAnswer[], form: string): Message[] {
  const last = answers.at(-1)!;
  const fault = faultOf(last);
  const times = answers.filter((answer) => faultOf(answer) === fault).length;
  if (times > 1) {
    const warning = `${times} earlier answers to this could not be used, all for the same reason: ${fault}. Give ${form}.`;
    return question.map((message, index) =>
      index === question.length - 1 ? { ...message, content: `${message.content}\n\n${warning}` } : message,
    );
  }
  const shown = last.text.trim() === '' ? '(no text)' : last.text.slice(0, maxShown).replace(/[\uD800-\uDBFF]$/, '');
  return [
    ...question,
    { role: 'assistant', content: shown },
    { role: 'user', content: `Your answer cannot be used: ${fault}. Answer again: ${form}.` },
  ];
}

/** The reason without advice for the operator. */
function faultOf({ reason }: UnusableAnswer): string {
  return reason.replace(': allow the proposer more tokens', '; be briefer');
}
