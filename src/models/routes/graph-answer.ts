import { PassThrough, Readable } from 'node:stream';
import { v7 as uuid } from 'uuid';
import { eventsOf, sseData, streamOf } from '../client/answers/chat-stream.js';
import { unknownCost, type CallCost } from '../client/cost.js';
import { modelAnswer } from '../client/answers/model-answer.js';
import type { ModelAnswer } from '../client/answers/provider-answer.js';
import type { ModelClient } from '../client/providers.js';
import { toText } from '../../core/graphs/values.js';
import { ApiError } from '../../platform/http/server/errors.js';
import { GraphFailure } from './graph-failure.js';
import { readGraphRequest, type GraphRequest } from './graph-request.js';
import { runServed, type OnText, type ServedGraph } from './graph-run.js';
import { streamError } from './upstream-error.js';

/**
 * Answers a chat completion request with a run of a graph. A stream carries the final call's text
 * and resolves with its first piece: an earlier failure has a status, a later one is an error
 * event. Rejects with an ApiError (`graph_input_invalid` before any cost, else a GraphFailure) or
 * the signal's reason.
 */
export async function answerByGraph(
  providers: ModelClient,
  served: ServedGraph,
  body: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  signal.throwIfAborted();
  const request = readGraphRequest(body, served.graph);
  const head = { id: `chatcmpl-${uuid()}`, created: Math.floor(Date.now() / 1_000), model: served.model };
  if (request.stream) return streamed(providers, served, request, head, signal);
  const { value, cost, finishReason } = await runServed(providers, served, request, null, signal);
  const bytes = Buffer.from(JSON.stringify(completionOf(head, toText(value), cost, finishReason)));
  return modelAnswer({ status: 200, contentType: 'application/json', retryAfter: null }, Readable.from([bytes]));
}

interface Head {
  id: string;
  created: number;
  model: string;
}

function streamed(
  providers: ModelClient,
  served: ServedGraph,
  request: GraphRequest,
  head: Head,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const gone = new AbortController();
  const out = new PassThrough();
  out.once('close', () => gone.abort(new Error('the answer stream was closed')));
  // The reader gets the error; without a reader it would crash the process.
  out.on('error', () => undefined);
  const answer = (body: Readable): ModelAnswer =>
    modelAnswer({ status: 200, contentType: 'text/event-stream', retryAfter: null }, body);
  return new Promise((resolve, reject) => {
    let hasBegun = false;
    const onText: OnText = (piece) => {
      if (!hasBegun) {
        hasBegun = true;
        const [first] = eventsOf(completionOf(head, '', null), false);
        out.write(first!);
        resolve(answer(out));
      }
      const choices = [{ index: 0, delta: { content: piece }, finish_reason: null }];
      out.write(sseData({ ...head, object: 'chat.completion.chunk', choices }));
    };
    runServed(providers, served, request, onText, AbortSignal.any([signal, gone.signal])).then(
      ({ value, cost, finishReason }) => {
        if (!hasBegun) {
          const completion = completionOf(head, toText(value), cost, finishReason);
          return resolve(answer(streamOf(completion, request.includeUsage)));
        }
        const [, ...last] = eventsOf(completionOf(head, '', cost, finishReason), request.includeUsage);
        out.end(Buffer.concat(last));
      },
      (error: Error) => {
        if (!hasBegun) return reject(error);
        if (!(error instanceof ApiError)) return out.destroy(error);
        const { usage } = completionOf(head, '', error instanceof GraphFailure ? error.spent : null);
        // Carries the cost so far for accounting.
        if (usage && request.includeUsage)
          out.write(sseData({ ...head, object: 'chat.completion.chunk', choices: [], usage }));
        out.end(sseData(streamError(error.code, error.message)));
      },
    );
  });
}

function completionOf(head: Head, content: string, cost: CallCost | null, finishReason = 'stop') {
  const { promptTokens: prompt, completionTokens: answered, costUsd } = cost ?? unknownCost;
  const message = { role: 'assistant', content };
  const isCounted = prompt !== null && answered !== null;
  const tokens = isCounted && { prompt_tokens: prompt, completion_tokens: answered, total_tokens: prompt + answered };
  return {
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    choices: [{ index: 0, message, finish_reason: finishReason }],
    ...(tokens && { usage: { ...tokens, ...(costUsd !== null && { cost: costUsd }) } }),
  };
}
