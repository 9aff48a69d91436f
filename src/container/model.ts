/** Calls the model through the rollout's URL, so that the service sees prompt, tokens and cost. */

/** Where a rollout's model is called. This file's types are public: they name no type of Node. */
export interface ModelAccess {
  inferenceUrl: string;
  inferenceApiKey: string | null;
  /** The policy's model and parameters, for each model request. */
  modelParams: Record<string, unknown>;
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
}

/** Calls the rollout's model and returns the answer's text; `params` go into the request. */
export type Model = (messages: readonly ChatMessage[], params?: Record<string, unknown>) => Promise<string>;

/** A failed model call. `retryStatus`: the rollout's status that requests a retry; null: none. */
export class ModelError extends Error {
  readonly retryStatus: 502 | 503 | null;
  readonly retryAfter: string | null;
  constructor(message: string, retryStatus: 502 | 503 | null, retryAfter: string | null = null) {
    super(message);
    this.name = 'ModelError';
    this.retryStatus = retryStatus;
    this.retryAfter = retryAfter;
  }
}

/** Requests a chat completion; throws a ModelError with the upstream's message. */
export async function callModel(
  { inferenceUrl, inferenceApiKey, modelParams }: ModelAccess,
  messages: readonly ChatMessage[],
  params: Record<string, unknown>,
  signal: AbortSignal,
): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${inferenceUrl.replace(/(?<!\/)\/+$/, '')}/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(inferenceApiKey !== null && { authorization: `Bearer ${inferenceApiKey}` }),
      },
      body: JSON.stringify({ ...modelParams, ...params, messages }),
      signal,
    });
    text = await response.text();
  } catch (error) {
    signal.throwIfAborted();
    throw new ModelError(`the model could not be reached at ${inferenceUrl}: ${errorReason(error)}`, 502);
  }
  const { status } = response;
  if (!response.ok) {
    const message = `the model answered ${status}: ${text.slice(0, 500)}`;
    const retryStatus = retryStatusOf(status, response.headers.get('x-should-retry'));
    throw new ModelError(message, retryStatus, retryStatus === 503 ? response.headers.get('retry-after') : null);
  }
  return answerText(text);
}

/** The service's table (`clients/net/retry-advice`), but for 409: a conflict of Ratchet stays. */
function retryStatusOf(status: number, advice: string | null): 502 | 503 | null {
  const isPassing = [408, 425, 429, 498, 499].includes(status) || (status >= 500 && status !== 501 && status !== 505);
  if (advice === 'false' || (advice !== 'true' && !isPassing)) return null;
  return [429, 498, 503, 529].includes(status) ? 503 : 502;
}

/** The message or code in `cause`, where fetch hides it. */
function errorReason(error: unknown): string {
  const { cause, message } = error as { cause?: { message?: string; code?: string }; message?: string };
  return cause?.message || cause?.code || message || String(error);
}

function answerText(text: string): string {
  let answer: { choices?: { message?: { content?: unknown } }[] };
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    throw new ModelError(`the model's answer is not JSON: ${text.slice(0, 200)}`, 502);
  }
  const content = answer.choices?.[0]?.message?.content;
  if (typeof content !== 'string') throw new ModelError('the response has no text (choices[0].message.content)', null);
  return content;
}
