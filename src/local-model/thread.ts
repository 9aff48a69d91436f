/** A thread of the `local` provider: answers one request after the other. */
import { parentPort } from 'node:worker_threads';
import type { Question } from '../core/question.js';
import { completeLocally, LocalRequestError, type ChatRequest } from './complete.js';

/** `json`: the chat completion request. `question`: what it asks, as data; null: a caller's own. */
export interface LocalRequest {
  json: string;
  question: Question | null;
}

/** A completion as JSON, or why the request is invalid. */
export type ThreadAnswer = { completion: string } | { message: string; param: string };

parentPort!.on('message', (request: LocalRequest) => parentPort!.postMessage(answer(request)));

function answer({ json, question }: LocalRequest): ThreadAnswer {
  try {
    return { completion: JSON.stringify(completeLocally(JSON.parse(json) as ChatRequest, question)) };
  } catch (error) {
    if (!(error instanceof LocalRequestError)) throw error;
    return { message: error.message, param: error.param };
  }
}
