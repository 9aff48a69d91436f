import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { doneData, isUsageChunk, sseData, StreamFold } from '../client/answers/chat-stream.js';
import { costOf, unknownCost } from '../client/cost.js';
import { ProviderError, providerError } from '../client/answers/provider-answer.js';
import { errorInside } from '../client/answers/answer-error.js';
import { withId } from '../client/answers/own-id.js';
import { usageIn } from '../client/answers/usage.js';
import { SseSplitter, type SseBlock } from '../../clients/net/sse.js';
import { cutErrorText, parseBounded } from '../../clients/net/untrusted.js';
import { OverCapacityError } from './bytes-in-flight.js';
import type { ForwardedCall } from './call.js';
import type { Recorder } from './record.js';
import { streamHeaders } from './replay.js';
import { streamError } from './upstream-error.js';

export interface Pump<Call extends ForwardedCall> {
  call: Call;
  answer: { status: number; bytes: AsyncIterable<Uint8Array> };
  reply: FastifyReply;
  recorder: Recorder<Call>;
  log: Logger;
  elapsed: () => number;
}

interface Failure {
  status: number;
  code: string;
  message: string;
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
  let failure: Failure | null = null;
  let ended = false;
  const end = async (last: string): Promise<void> => {
    ended = true;
    if (failure === null && last !== '' && fold.completion() === null) {
      const message = `The provider "${call.provider}" ended its stream without an answer.`;
      failure = { status: 502, code: 'upstream_answer_invalid', message };
      last = sseData(streamError(failure.code, failure.message));
    }
    if (failure === null && last === '' && !fold.isWhole()) {
      failure = {
        status: 502,
        code: 'upstream_connection_lost',
        message: `The provider "${call.provider}" ended its answer early.`,
      };
      last = sseData(streamError(failure.code, failure.message));
    }
    // Some providers leave it out, and clients wait for it.
    if (failure === null && last === '') last = sseData(doneData);
    const recorded = await record(pump, fold, failure);
    if (!out.destroyed) out.end(recorded ?? last);
  };
  /** Forwards the events of one read in one write. */
  const forward = async (blocks: readonly SseBlock[]): Promise<void> => {
    let text = '';
    for (const { raw, data, complete } of blocks) {
      const chunk = data === null || data === doneData ? null : parseBounded(data);
      // A partial event would run into the error event.
      if (!complete && data !== doneData) continue;
      const fault = chunk && errorInside(chunk);
      if (fault) {
        const message = `The provider ended its answer with an error: ${cutErrorText(fault.error.message)}`;
        failure = { status: fault.status, code: 'upstream_error', message };
      }
      if (chunk) fold.add(chunk);
      if (data === doneData) {
        await write(out, text);
        return end(failure === null ? raw : '');
      }
      if (chunk && call.upstream.hideUsageChunk && isUsageChunk(chunk)) continue;
      const isOwn = chunk && !fault && call.answerId !== undefined;
      text += isOwn ? withOwnId(raw, data!, call.answerId!) : raw;
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
    await end(sseData(streamError(failure.code, failure.message)));
  }
}

/** An event with our id in its JSON, which several lines of data may hold. */
function withOwnId(raw: string, data: string, id: string): string {
  const at = raw.indexOf(data);
  if (at === -1) return sseData(withId(data.replaceAll('\n', ' '), id));
  return raw.slice(0, at) + withId(data, id) + raw.slice(at + data.length);
}

/** Records the answer; returns an error event for the stream on failure, else null. */
async function record<Call extends ForwardedCall>(
  pump: Pump<Call>,
  fold: StreamFold,
  failure: Failure | null,
): Promise<string | null> {
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
    return failure ? null : sseData(streamError('not_recorded', 'The answer could not be recorded; retry.'));
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
