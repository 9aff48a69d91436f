/** Rows of a data set from requests. */
import { answerOf, inputOf } from '../../../core/deployments/request-texts.js';
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
