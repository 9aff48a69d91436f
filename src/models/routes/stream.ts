import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { doneData, StreamFold } from '../client/answers/chat-stream.js';
import { costOf, unknownCost } from '../client/cost.js';
import { ProviderError, providerError } from '../client/answers/provider-answer.js';
import { errorInside } from '../client/answers/answer-error.js';
import { usageIn } from '../client/answers/usage.js';
import { SseSplitter, type SseBlock } from '../../clients/net/sse.js';
import { cutErrorText, parseBounded } from '../../clients/net/untrusted.js';
import { OverCapacityError } from './bytes-in-flight.js';
import type { ForwardedCall } from './call.js';
import type { StreamFailure } from './forms/form.js';
import type { Recorder } from './record.js';
import { streamHeaders } from './replay.js';
import { toldStream } from './told-stream.js';
import { streamError } from './upstream-error.js';

export interface Pump<Call extends ForwardedCall> {
  call: Call;
  answer: { status: number; bytes: AsyncIterable<Uint8Array> };
  reply: FastifyReply;
  recorder: Recorder<Call>;
  log: Logger;
  elapsed: () => number;
}

/** Time after which a stalled caller is dropped; the answer is still recorded. */
const stallMs = 30_000;

/**
 * Forwards a stream as its events arrive, without the usage chunk that the caller did not request.
 * Records the answer before the last event; a failure ends the stream with an error event and no
 * [DONE]. Reads on after the caller has disconnected. Never rejects.
 */
export async function pumpStream<Call extends ForwardedCall>(pump: Pump<Call>): Promise<void> {
  const { call, answer, reply } = pump;
  const out = reply.raw;
  reply.hijack();
  out.writeHead(answer.status, { ...(reply.getHeaders() as OutgoingHttpHeaders), ...streamHeaders });
  const splitter = new SseSplitter();
  const fold = new StreamFold();
  const told = toldStream(call);
  let failure: StreamFailure | null = null;
  let ended = false;
  /** `done`: the provider's last event, '' without one. */
  const end = async (done: string): Promise<void> => {
    ended = true;
    failure ??= faultOf(call.provider, fold, done !== '');
    const fault = (await record(pump, fold, failure)) ?? failure;
    if (!out.destroyed) out.end(fault ? told.fail(fault) : told.end(done));
  };
  /** Forwards the events of one read in one write. */
  const forward = async (blocks: readonly SseBlock[]): Promise<void> => {
    let text = '';
    for (const block of blocks) {
      const { raw, data, complete } = block;
      const chunk = data === null || data === doneData ? null : parseBounded(data);
      // A partial event would run into the error event.
      if (!complete && data !== doneData) continue;
      const fault = chunk && errorInside(chunk);
      if (fault) {
        const message = `The provider ended its answer with an error: ${cutErrorText(fault.error.message)}`;
        failure = { status: fault.status, code: 'upstream_error', message };
      }
      if (data === doneData) {
        await write(out, text);
        return end(failure === null ? raw : '');
      }
      text += told.event(block, chunk, fault !== null);
      // Takes the chunk over.
      if (chunk) fold.add(chunk);
    }
    await write(out, text);
  };
  try {
    for await (const bytes of answer.bytes) {
      // Drain the rest after [DONE], so that the connection can be reused.
      if (ended) continue;
      await forward(splitter.push(bytes));
    }
    const last = splitter.end();
    if (last && !ended) await forward([last]);
    if (!ended) await end('');
  } catch (error) {
    if (ended) return;
    const fault = error instanceof OverCapacityError ? error : providerError(call.provider, error);
    const isNamed = fault instanceof ProviderError || fault instanceof OverCapacityError;
    failure = { status: 502, code: isNamed ? fault.code : 'internal', message: fault.message };
    await end('');
  }
}

/** What is wrong with a stream that came to its end; null: nothing. */
function faultOf(provider: string, fold: StreamFold, isDone: boolean): StreamFailure | null {
  if (isDone && fold.completion() === null) {
    const message = `The provider "${provider}" ended its stream without an answer.`;
    return { status: 502, code: 'upstream_answer_invalid', message };
  }
  if (isDone || fold.isWhole()) return null;
  const message = `The provider "${provider}" ended its answer early.`;
  return { status: 502, code: 'upstream_connection_lost', message };
}

/** Records the answer; returns what the caller of a whole one is told on failure, else null. */
async function record<Call extends ForwardedCall>(
  pump: Pump<Call>,
  fold: StreamFold,
  failure: StreamFailure | null,
): Promise<StreamFailure | null> {
  const { call, answer, reply, recorder, log, elapsed } = pump;
  const completion = fold.completion();
  const result = {
    httpStatus: failure?.status ?? answer.status,
    response: failure ? { ...completion, ...streamError(failure.code, failure.message) } : completion,
    latencyMs: elapsed(),
    // The text of a failed stream is still valid.
    ...(failure && !usageIn(completion) ? unknownCost : costOf(call.provider, call.upstream.model, completion)),
  };
  try {
    const id = await recorder.record(call, result);
    recorder.takeBackUnlessDelivered(call, id, reply);
    return null;
  } catch (error) {
    log.error({ err: error, ...call.logged }, 'could not record a model call');
    const message = 'The answer could not be recorded; retry.';
    return failure ? null : { status: 502, code: 'not_recorded', message };
  }
}

/** Writes at the caller's speed; drops data after a disconnect. */
async function write(out: ServerResponse, text: string): Promise<void> {
  if (text === '' || out.destroyed || out.write(text)) return;
  const controller = new AbortController();
  const { signal } = controller;
  const timer = setTimeout(() => out.destroy(), stallMs);
  try {
    await Promise.race([once(out, 'drain', { signal }), once(out, 'close', { signal })]);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}
