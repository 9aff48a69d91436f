/** The answer of a chat completion as its chunks come. */
import { asObject } from '../../../../src/util/json.js';

export interface StreamedAnswer {
  text: string;
  /** The model that the provider names. */
  model: string | null;
  finishReason: string | null;
  promptTokens: number | null;
  completionTokens: number | null;
  costUsd: number | null;
  /** What the provider said in place of the rest. */
  error: string | null;
  isDone: boolean;
}

export const noAnswer: StreamedAnswer = {
  text: '',
  model: null,
  finishReason: null,
  promptTokens: null,
  completionTokens: null,
  costUsd: null,
  error: null,
  isDone: false,
};

/** The answer with one more `data:` of the stream. */
export function withChunk(answer: StreamedAnswer, data: string): StreamedAnswer {
  if (data === '[DONE]') return { ...answer, isDone: true };
  const chunk = asObject(JSON.parse(data));
  if (!chunk) return answer;
  const error = asObject(chunk['error']);
  if (error) return { ...answer, error: textOf(error['message']) ?? 'The provider broke off its answer.' };
  const [first] = Array.isArray(chunk['choices']) ? (chunk['choices'] as unknown[]) : [];
  const choice = asObject(first);
  const usage = asObject(chunk['usage']);
  return {
    ...answer,
    text: answer.text + (textOf(asObject(choice?.['delta'])?.['content']) ?? ''),
    model: textOf(chunk['model']) ?? answer.model,
    finishReason: textOf(choice?.['finish_reason']) ?? answer.finishReason,
    promptTokens: numberOf(usage?.['prompt_tokens']) ?? answer.promptTokens,
    completionTokens: numberOf(usage?.['completion_tokens']) ?? answer.completionTokens,
    costUsd: numberOf(usage?.['cost']) ?? answer.costUsd,
  };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
