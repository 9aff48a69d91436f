import type { FastifyReply } from 'fastify';
import { chunksOf, doneData, sseData } from '../../clients/models/chat-stream.js';
import type { RecordedAnswer } from '../../storage/rollouts/call-records.js';
import type { ProxyCall } from './call.js';
import type { Recorder } from './record.js';

/** What keeps buffers between us and the caller from holding a stream back. */
export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** Replays the recorded answer to a rollout that was sent again, without a model call. */
export function replay(recorder: Recorder, call: ProxyCall, recorded: RecordedAnswer, reply: FastifyReply): void {
  const { id, response, costUsd } = recorded;
  recorder.takeBackUnlessDelivered(call, id, reply);
  if (costUsd !== null) void reply.header('x-ratchet-cost-usd', String(costUsd));
  if (!call.upstream.stream) {
    void reply.code(200).type('application/json; charset=utf-8').send(JSON.stringify(response));
    return;
  }
  const chunks = [...chunksOf(response, !call.upstream.hideUsageChunk)];
  const events = [...chunks.map(sseData), sseData(doneData)];
  void reply.code(200).headers(streamHeaders).send(events.join(''));
}
