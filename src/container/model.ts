/** Calls the model through the rollout's URL, so that the service sees prompt, tokens and cost. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';

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
  const headers = {
    'content-type': 'application/json',
    ...(inferenceApiKey !== null && { authorization: `Bearer ${inferenceApiKey}` }),
  };
  let answer: Answer;
  try {
    const url = `${inferenceUrl.replace(/(?<!\/)\/+$/, '')}/chat/completions`;
    answer = await post(url, headers, JSON.stringify({ ...modelParams, ...params, messages }), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new ModelError(`the model could not be reached at ${inferenceUrl}: ${errorReason(error)}`, 502);
  }
  const { status, body, advice, retryAfter } = answer;
  if (status < 200 || status > 299) {
    const retryStatus = retryStatusOf(status, advice);
    const message = `the model answered ${status}: ${body.slice(0, 500)}`;
    throw new ModelError(message, retryStatus, retryStatus === 503 ? retryAfter : null);
  }
  return answerText(body);
}

interface Answer {
  status: number;
  body: string;
  /** Of `x-should-retry`. */
  advice: string | null;
  retryAfter: string | null;
}

/**
 * Not by fetch: Node's gives up after five minutes without an answer. A connection of its own: a
 * kept one may be closed by the server at any time.
 */
function post(url: string, headers: Record<string, string>, body: string, signal: AbortSignal): Promise<Answer> {
  const send = new URL(url).protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = send(url, { method: 'POST', headers, signal, agent: false }, (response) => {
      const header = (name: string) => response.headers[name]?.toString() ?? null;
      const answered = (received: string): Answer => ({
        status: response.statusCode!,
        body: received,
        advice: header('x-should-retry'),
        retryAfter: header('retry-after'),
      });
      text(response).then((received) => resolve(answered(received)), reject);
    });
    sent.once('error', reject).end(body);
  });
}

/** The service's table (`clients/net/retry-advice`), but for 409: a conflict of Ratchet stays. */
function retryStatusOf(status: number, advice: string | null): 502 | 503 | null {
  const isPassing = [408, 425, 429, 498, 499].includes(status) || (status >= 500 && status !== 501 && status !== 505);
  if (advice === 'false' || (advice !== 'true' && !isPassing)) return null;
  return [429, 498, 503, 529].includes(status) ? 503 : 502;
}

/** An error of several addresses has no message. */
function errorReason(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
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
