/** A thread of the `local` provider: answers one request after the other. */
import { parentPort } from 'node:worker_threads';
import { completeLocally, type ChatRequest } from './complete.js';
import { LocalRequestError } from './request-error.js';

/** A completion as JSON, or why the request is invalid. */
export type ThreadAnswer = { completion: string } | { message: string; param: string };

parentPort!.on('message', (request: string) => parentPort!.postMessage(answer(request)));

function answer(request: string): ThreadAnswer {
  try {
    return { completion: JSON.stringify(completeLocally(JSON.parse(request) as ChatRequest)) };
  } catch (error) {
    if (!(error instanceof LocalRequestError)) throw error;
    return { message: error.message, param: error.param };
  }
}
