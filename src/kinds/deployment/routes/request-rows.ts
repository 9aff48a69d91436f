/** Rows of a data set from requests. */
import { chatOf } from '../../../core/prompts/chat-rows.js';
import { asObject } from '../../../util/json.js';
import type { StoredRequest } from '../store/logged-requests.js';

/** The row of a request; null: its messages are no text, or its text was not kept. */
export function rowOf(
  { answerId, outcome, request, answer, reward, corrected }: StoredRequest,
  expected: 'corrected' | 'corrected_or_answer',
): Record<string, unknown> | null {
  const input = request === null ? null : inputOf(JSON.parse(request) as Record<string, unknown>);
  if (input === null) return null;
  const { text: said, isWhole } = answerOf(answer === null ? {} : (JSON.parse(answer) as Record<string, unknown>));
  const isRight = expected === 'corrected_or_answer' && outcome === 'ok' && isWhole;
  const right = corrected ?? (isRight ? said : null);
  return {
    input,
    ...(right !== null && { expected: right }),
    ...(said !== null && { answer: said }),
    ...(reward !== null && { reward: Number(reward) }),
    answer_id: answerId,
  };
}

/** The only message's text, else all messages; without the one that the deployment replaces. */
function inputOf({ messages, tools, functions }: Record<string, unknown>) {
  const chat = chatOf(messages);
  if (!chat || tools || functions) return null;
  const replaced = chat.findIndex(({ role }) => role === 'system');
  const left = chat.filter((_, index) => index !== replaced);
  const [only] = left;
  if (!only) return null;
  return left.length === 1 && only.role === 'user' ? only.content : left;
}

/** The text of an answer; `isWhole`: it came to its end. */
function answerOf({ choices }: Record<string, unknown>): { text: string | null; isWhole: boolean } {
  const choice = asObject(Array.isArray(choices) ? choices[0] : null);
  const content = asObject(choice?.['message'])?.['content'];
  return { text: typeof content === 'string' ? content : null, isWhole: choice?.['finish_reason'] === 'stop' };
}
