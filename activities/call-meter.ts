import { v7 as uuid } from 'uuid';
import { answerTokens, boundCall } from '../src/models/client/call-bound.js';
import type { CostReservation } from '../src/models/client/chat.js';
import type { BudgetSpec } from '../src/core/jobs/spec.js';
import type { PolicySpec } from '../src/core/jobs/policy.js';
import { costExhausted } from '../src/core/jobs/failures.js';
import { reserveWhenPossible, settleCost } from '../src/jobs/store/cost-budget.js';
import type { JobRef } from '../src/jobs/store/events.js';
import { databasePatienceMs, retryTransient } from '../src/platform/db/patience.js';
import type { ActivityDeps } from './deps.js';
import { jobFailure } from './errors.js';

export const costSpentMessage =
  'budget.max_cost_usd is exhausted: the remaining budget does not cover the next model call.';

/** The payer of a model call; `rolloutId` null: a call of the proposer. */
interface Payer {
  budget: BudgetSpec;
  policy: PolicySpec;
  rolloutId: string | null;
}

/** Reserves the cost of each try of a model call; null: no cost budget. */
export function costReservation(
  { db, notifications, log }: ActivityDeps,
  job: JobRef,
  { budget, policy, rolloutId }: Payer,
  signal: AbortSignal,
): CostReservation | null {
  if (budget.maxCostUsd == null) return null;
  let open: string | null = null;
  return {
    async open(request) {
      const unlimited = rolloutId === null ? answerTokens.proposer : answerTokens.rollout;
      const bounded = boundCall(policy.provider, request, unlimited);
      if ('field' in bounded) return bounded;
      const { costUsd, body } = bounded;
      const id = `res_${uuid().replaceAll('-', '')}`;
      const call = { id, rolloutId, costUsd, presence: notifications.presence };
      const reserved = await reserveWhenPossible(db, job, call, signal, {
        patienceMs: databasePatienceMs,
        onRetry: (err) => log.warn({ err, job_id: job.jobId }, 'cost not reserved; retrying'),
      });
      if (reserved === 'refused') throw jobFailure(costExhausted, costSpentMessage);
      open = id;
      return { body };
    },
    async close({ costUsd }) {
      if (open === null) return;
      const id = open;
      open = null;
      await retryTransient(() => db.org(job.orgId, (tx) => settleCost(tx, job, id, costUsd)), {
        patienceMs: databasePatienceMs,
        onRetry: (err) => log.warn({ err, job_id: job.jobId }, 'cost of a call not recorded; retrying'),
      });
    },
  };
}
