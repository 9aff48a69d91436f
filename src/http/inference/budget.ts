import type { FastifyReply } from 'fastify';
import { v7 as uuid } from 'uuid';
import { answerTokens, boundCall } from '../../clients/models/call-bound.js';
import { reserveInTurn } from '../../storage/jobs/cost-budget.js';
import { ApiError } from '../server/errors.js';
import type { ProxyCall, ProxyDeps } from './call.js';
import { hashOf, type UpstreamRequest } from './request.js';

/** A rollout's call under a budget of money: its answer is no longer than what will be reserved for it. */
export function boundUpstream(provider: string, asked: UpstreamRequest): Pick<ProxyCall, 'upstream' | 'reservation'> {
  const bounded = boundCall(provider, asked.body, answerTokens.rollout);
  if ('field' in bounded) {
    const { field, message } = bounded;
    throw new ApiError(400, 'cost_not_bounded', message, { errors: [{ pointer: `/${field}`, message }] });
  }
  const { body, costUsd } = bounded;
  const id = `res_${uuid().replaceAll('-', '')}`;
  return { upstream: { ...asked, body, hash: hashOf([provider, body]) }, reservation: { id, costUsd } };
}

/** Reserves what calls can cost. */
export interface CostReservations {
  /** Resolves when the call may be sent; waits while only calls under way stand in its way, and refuses it with 402. */
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
        if ((await reserveInTurn(db, call, wanted, waiting.signal)) === 'refused') throw exhausted();
      } finally {
        clearTimeout(timer);
        reply.raw.removeListener('close', gone);
      }
    },
  };
}

// 402 and not 409 or 429: those are tried again by OpenAI's own clients.
function exhausted(): ApiError {
  const message =
    "What is left of the session's budget.max_cost_usd does not suffice for this call; the session completes with its best so far.";
  return new ApiError(402, 'budget_exhausted', message, { headers: { 'x-should-retry': 'false' } });
}

function busy(): ApiError {
  return new ApiError(503, 'budget_busy', 'Calls under way hold the rest of budget.max_cost_usd; try again.');
}
