/** What was asked and answered, in the requests of deployments as they are kept. */
import { asObject } from '../../util/json.js';
import { chatOf } from '../prompts/chat-rows.js';

/** The only message's text, else all messages; without the one that the deployment replaces. */
export function inputOf({ messages, tools, functions }: Record<string, unknown>) {
  const chat = chatOf(messages);
  if (!chat || tools || functions) return null;
  const replaced = chat.findIndex(({ role }) => role === 'system');
  const left = chat.filter((_, index) => index !== replaced);
  const [only] = left;
  if (!only) return null;
  return left.length === 1 && only.role === 'user' ? only.content : left;
}

/** The text of an answer; `isWhole`: it came to its end. */
export function answerOf({ choices }: Record<string, unknown>): { text: string | null; isWhole: boolean } {
  const choice = asObject(Array.isArray(choices) ? choices[0] : null);
  const content = asObject(choice?.['message'])?.['content'];
  return { text: typeof content === 'string' ? content : null, isWhole: choice?.['finish_reason'] === 'stop' };
}

/** What a scorer reads: the row with the input of the caller, and the output. */
export function scoredTexts(
  request: Record<string, unknown>,
  answer: Record<string, unknown>,
): { row: Record<string, unknown>; output: string } {
  const input = inputOf(request) ?? request['messages'] ?? null;
  return { row: { input }, output: outputOf(answer) };
}

/** The text of an answer, else its calls of tools as JSON. */
function outputOf(answer: Record<string, unknown>): string {
  const { text } = answerOf(answer);
  if (text !== null && text !== '') return text;
  const { choices } = answer;
  const message = asObject(asObject(Array.isArray(choices) ? choices[0] : null)?.['message']) ?? {};
  const { refusal, tool_calls: calls, function_call: call } = message;
  if (typeof refusal === 'string') return refusal;
  const called = calls ?? call;
  return called ? JSON.stringify(called) : '';
}
