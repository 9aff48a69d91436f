import type { PromptMessage } from '../../src/core/graphs/graph.js';
import { messagesOf, type Question } from '../../src/core/question.js';
import { completeLocally } from '../../src/local-model/index.js';

/** The `local` provider's answer to these messages. */
export function localSays(messages: readonly PromptMessage[]): string {
  return completeLocally({ messages }).choices[0].message.content;
}

/** The `local` provider's answer to a user's message after a system prompt. */
export function answerTo(user: string, system: string): string {
  return localSays([
    { role: 'system', content: system },
    { role: 'user', content: user },
  ]);
}

/** The `local` provider's answer to a question of the service. */
export function answerQuestion(question: Question): string {
  return completeLocally({ messages: messagesOf(question) }, question).choices[0].message.content;
}
