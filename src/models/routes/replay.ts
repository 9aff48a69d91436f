import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { chunksOf, paced, streamOf } from '../client/answers/chat-stream.js';
import type { RecordedAnswer } from '../../rollouts/store/call-records.js';
import type { ProxyCall } from './call.js';
import type { AnswerForm } from './forms/form.js';
import type { JobRecorder } from './record.js';

/** What keeps buffers between us and the caller from holding a stream back. */
export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/**
 * Replays the recorded answer to a rollout that was sent again, without a model call. Rejects with
 * an OverCapacityError if the process holds too many bytes; a retry then gets the answer.
 */
export async function replay(
  recorder: JobRecorder,
  call: ProxyCall,
  { id, response, costUsd }: RecordedAnswer,
  reply: FastifyReply,
): Promise<void> {
  const { form, upstream } = call;
  const text = JSON.stringify(form && !upstream.stream ? form.whole(response, null) : response);
  try {
    call.bytes.add(Buffer.byteLength(text));
  } catch (error) {
    await recorder.takeBack(call, id);
    throw error;
  }
  recorder.takeBackUnlessDelivered(call, id, reply);
  if (costUsd !== null) void reply.header('x-ratchet-cost-usd', String(costUsd));
  void reply.code(200);
  if (!upstream.stream) void reply.type('application/json; charset=utf-8').send(text);
  else {
    const events = form ? Readable.from(paced(eventsIn(form, response))) : streamOf(response, !upstream.hideUsageChunk);
    void reply.headers(streamHeaders).send(events);
  }
}

function* eventsIn(form: AnswerForm, completion: Record<string, unknown>): Generator<Buffer> {
  const stream = form.stream(null);
  for (const chunk of chunksOf(completion, true)) yield Buffer.from(stream.add(chunk));
  yield Buffer.from(stream.end());
}
