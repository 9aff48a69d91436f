import type { FastifyReply } from 'fastify';
import { v7 as uuid } from 'uuid';
import type { CallCost } from '../../clients/models/cost.js';
import { settleCost } from '../../storage/jobs/cost-budget.js';
import { recordCall, takeBack } from '../../storage/rollouts/call-records.js';
import { retryTransient } from '../../storage/db/patience.js';
import { freeSlot } from '../../storage/rollouts/slots.js';
import type { ForwardedCall, ProxyCall, ProxyDeps } from './call.js';

/** How a call to the model ended. */
export interface CallResult extends CallCost {
  httpStatus: number;
  response: unknown;
  latencyMs: number;
}

/** Writes model calls down. */
export interface Recorder<Call extends ForwardedCall = ProxyCall> {
  /**
   * Records a call and answers with its id. An answer that was paid for is worth waiting for the
   * database; rejects when that does not come back in time.
   */
  record(call: Call, result: CallResult): Promise<string>;
  /** Makes an undelivered answer available to a retry within the same attempt. */
  takeBackUnlessDelivered(call: Call, id: string, reply: FastifyReply): void;
}

export function createRecorder({ db, notifications, log, recordPatienceMs = 15_000 }: ProxyDeps): Recorder {
  return {
    async record(call, result) {
      const id = `call_${uuid().replaceAll('-', '')}`;
      const { orgId, jobId, correlationId, candidateId, provider, rollout, upstream, reservation, levers } = call;
      const row = {
        ...{ id, orgId, jobId, correlationId, candidateId, provider, levers },
        purpose: rollout.source === 'service' ? ('rollout' as const) : ('caller' as const),
        rolloutId: rollout.id,
        requestHash: upstream.hash,
        attempt: rollout.attempt,
        presence: notifications.presence,
        model: upstream.model,
        request: upstream.body,
        stream: upstream.stream,
        ...result,
      };
      const write = (): Promise<unknown> =>
        reservation
          ? db.org(orgId, async (tx) => {
              await recordCall(tx, row);
              await settleCost(tx, call, reservation.id, result.costUsd);
            })
          : db.orgApart(orgId, (tx) => recordCall(tx, row));
      await retryTransient(write, {
        patienceMs: recordPatienceMs,
        onRetry: (err) =>
          log.warn({ err, job_id: jobId, rollout_id: rollout.id }, 'a model call is not recorded yet; trying again'),
      });
      if (result.httpStatus >= 300 && rollout.source === 'caller') {
        await db.orgApart(orgId, (tx) => freeSlot(tx, jobId, rollout.id));
      }
      return id;
    },

    takeBackUnlessDelivered({ orgId, rollout }, id, reply) {
      const check = () => {
        if (reply.raw.writableFinished) return;
        db.org(orgId, (tx) => takeBack(tx, id, rollout.attempt)).catch((error: unknown) =>
          log.warn({ err: error, call_id: id }, 'an answer that did not arrive counts as given'),
        );
      };
      if (reply.raw.destroyed) check();
      else reply.raw.once('close', check);
    },
  };
}
