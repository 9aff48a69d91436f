import type { FastifyReply } from 'fastify';
import { v7 as uuid } from 'uuid';
import type { CallCost } from '../client/cost.js';
import { addKeySpend } from '../../access/store/spend-quota.js';
import { settleCost } from '../../jobs/store/cost-budget.js';
import { takeCached, type AskedCall } from '../../rollouts/store/answer-cache.js';
import { recordCall, takeBack, type RecordedAnswer } from '../../rollouts/store/call-records.js';
import { createGroupCommit } from '../../platform/db/group-commit.js';
import { JsonText } from '../../platform/db/json.js';
import { retryTransient } from '../../platform/db/patience.js';
import { freeSlot } from '../../rollouts/store/slots.js';
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

/** The recorder of jobs. */
export interface JobRecorder extends Recorder {
  /** Records an answer from the organization's cache; null: call the model. */
  recordCached(call: ProxyCall): Promise<RecordedAnswer | null>;
  /** Makes an answer available to a retry within the same attempt. Never rejects. */
  takeBack(call: ProxyCall, id: string): Promise<void>;
}

export function createRecorder({ db, notifications, log, recordPatienceMs = 15_000 }: ProxyDeps): JobRecorder {
  const together = createGroupCommit(db);
  const askedCall = (call: ProxyCall): AskedCall => {
    const { orgId, jobId, correlationId, candidateId, provider, rollout, upstream, levers } = call;
    return {
      orgId,
      jobId,
      correlationId,
      candidateId,
      provider,
      levers,
      id: `call_${uuid().replaceAll('-', '')}`,
      purpose: rollout.source === 'service' ? 'rollout' : 'caller',
      rolloutId: rollout.id,
      requestHash: upstream.hash,
      attempt: rollout.attempt,
      presence: notifications.presence,
      model: upstream.model,
      request: new JsonText(upstream.json),
      stream: upstream.stream,
    };
  };
  const returnAnswer = async ({ orgId, rollout }: ProxyCall, id: string): Promise<void> => {
    await db
      .org(orgId, (tx) => takeBack(tx, id, rollout.attempt))
      .catch((error: unknown) =>
        log.warn({ err: error, call_id: id }, 'an answer that did not arrive counts as given'),
      );
  };
  return {
    async record(call, result) {
      const { orgId, keyId, jobId, rollout, reservation } = call;
      const { costUsd } = result;
      const spent = keyId !== null && costUsd ? { id: uuid(), keyId, costUsd } : null;
      const row = { ...askedCall(call), ...result };
      const write = (): Promise<unknown> =>
        reservation || spent
          ? db.org(orgId, async (tx) => {
              await recordCall(tx, row);
              if (reservation) await settleCost(tx, call, reservation.id, costUsd);
              if (spent) await addKeySpend(tx, call, spent);
            })
          : recordCall(together.tx(orgId, `${jobId} ${rollout.id}`), row, notifications.presence);
      await retryTransient(write, {
        patienceMs: recordPatienceMs,
        onRetry: (err) =>
          log.warn({ err, job_id: jobId, rollout_id: rollout.id }, 'a model call is not recorded yet; trying again'),
      });
      if (result.httpStatus >= 300 && rollout.source === 'caller') {
        await db.orgApart(orgId, (tx) => freeSlot(tx, jobId, rollout.id));
      }
      return row.id;
    },

    async recordCached(call) {
      const { cacheScope: scope } = call;
      if (scope === null) return null;
      const asked = askedCall(call);
      const response = await db.org(call.orgId, (tx) => takeCached(tx, scope, asked));
      return response && { id: asked.id, response, costUsd: 0 };
    },

    takeBack: returnAnswer,

    takeBackUnlessDelivered(call, id, reply) {
      const check = () => {
        if (!reply.raw.writableFinished) void returnAnswer(call, id);
      };
      if (reply.raw.destroyed) check();
      else reply.raw.once('close', check);
    },
  };
}
