import type { FastifyReply } from 'fastify';
import { v7 as uuid } from 'uuid';
import { answerTokens, boundCall } from '../client/call-bound.js';
import { reserveWhenPossible } from '../../jobs/store/cost-budget.js';
import { ApiError } from '../../platform/http/server/errors.js';
import type { ProxyCall, ProxyDeps } from './call.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Bounds the answer of a rollout's call, so that its cost can be reserved. */
export function boundUpstream(provider: string, asked: UpstreamRequest): Pick<ProxyCall, 'upstream' | 'reservation'> {
  const bounded = boundCall(provider, asked.body, answerTokens.rollout);
  if ('field' in bounded) {
    const { field, message } = bounded;
    throw new ApiError(400, 'cost_not_bounded', message, { errors: [{ pointer: `/${field}`, message }] });
  }
  const { body, json, costUsd } = bounded;
  const id = `res_${uuid().replaceAll('-', '')}`;
  return { upstream: asked.withBody(body, json), reservation: { id, costUsd } };
}

/** Reserves the maximum cost of calls. */
export interface CostReservations {
  /**
   * Resolves when the call may be sent; waits for pending calls; rejects with 402 if the budget is
   * exhausted.
   */
  reserve(call: ProxyCall, reply: FastifyReply): Promise<void>;
}

export function createCostReservations({ db, notifications, callTimeoutMs = 600_000 }: ProxyDeps): CostReservations {
  return {
    async reserve(call, reply) {
      if (!call.reservation) return;
      const { presence } = notifications;
      const waiting = new AbortController();
      const gone = () => waiting.abort(busy());
      const timer = setTimeout(() => waiting.abort(busy()), callTimeoutMs);
      reply.raw.once('close', gone);
      try {
        const wanted = { ...call.reservation, rolloutId: call.rollout.id, presence };
        if ((await reserveWhenPossible(db, call, wanted, waiting.signal)) === 'refused') throw exhausted();
      } finally {
        clearTimeout(timer);
        reply.raw.removeListener('close', gone);
      }
    },
  };
}

// 402 rather than 409 or 429, which OpenAI's clients retry.
function exhausted(): ApiError {
  const message =
    'budget.max_cost_usd is exhausted: the remaining budget does not cover this call. The job ends with its results so far.';
  return new ApiError(402, 'budget_exhausted', message, { headers: { 'x-should-retry': 'false' } });
}

function busy(): ApiError {
  return new ApiError(503, 'budget_busy', 'Pending calls have reserved the rest of budget.max_cost_usd; retry later.');
}
