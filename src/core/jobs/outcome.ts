/** How a job ends: what its workflow knows, judged by what is on record. */
import { costBudgetExhausted, costExhausted, mustFail, spendQuotaExceeded, type OutcomeCounts } from './failures.js';
import type { JobFault } from './fault.js';
import { counted } from '../math/words.js';
import type { EvaluationSpec, JobSpec } from './spec.js';
import { unitOf } from './unit.js';

/** Why the work of a job is over. `expired`: its running time is. */
export type JobEnd =
  | { kind: 'completed'; stoppedBy: string }
  | { kind: 'cancelled' }
  | { kind: 'expired' }
  | { kind: 'failed'; fault: JobFault };

export interface JobOutcome {
  status: 'completed' | 'failed' | 'cancelled';
  stoppedBy: string;
  error: JobFault | null;
}

/** Characters of a stop reason in Temporal: those of a search attribute are few. */
const maxReason = 200;

/** Why a job ended, as Temporal shows it: a failed one by its code. */
export function stopReasonOf({ status, stoppedBy, error }: JobOutcome): string {
  return (status === 'failed' && error ? error.code : stoppedBy).slice(0, maxReason);
}

/** What Postgres knows of a job that ends. */
export interface EndRecord {
  spec: JobSpec;
  counts: OutcomeCounts;
  /** Whether its search has a best candidate. */
  hasBest: boolean;
}

/** A budget, or quota, that can end a search before its algorithm does. */
type SpentBudget = 'max_minutes' | typeof costExhausted | typeof spendQuotaExceeded;

export function outcomeOf(end: JobEnd, record: EndRecord): JobOutcome {
  switch (end.kind) {
    case 'cancelled':
      return { status: 'cancelled', stoppedBy: 'cancelled', error: null };
    case 'completed':
      return end.stoppedBy === 'reward_stop'
        ? { status: 'completed', stoppedBy: end.stoppedBy, error: null }
        : completed(end.stoppedBy, record);
    case 'expired':
      return record.spec.kind === 'evaluation' ? timedOut(record.spec) : spent('max_minutes', record);
    case 'failed': {
      const { code } = end.fault;
      const { spec } = record;
      if (spec.kind !== 'evaluation' && isSpending(code)) return spent(code, record);
      if (spec.kind === 'evaluation' && code === costExhausted) return outOfMoney(spec, record);
      return { status: 'failed', stoppedBy: 'failed', error: end.fault };
    }
  }
}

/** Whether a fault says that money or a quota is used up: the work before it counts. */
export function isSpending(code: string): code is typeof costExhausted | typeof spendQuotaExceeded {
  return code === costExhausted || code === spendQuotaExceeded;
}

/** Completed, or failed where too many rollouts failed. */
function completed(stoppedBy: string, { counts, spec }: EndRecord): JobOutcome {
  const fault = mustFail(counts, spec.maxFailureRate, true);
  return fault
    ? { status: 'failed', stoppedBy: 'failed', error: fault }
    : { status: 'completed', stoppedBy, error: null };
}

/** A search with a spent budget: its best so far, or failed without one. */
function spent(budget: SpentBudget, record: EndRecord): JobOutcome {
  if (record.hasBest) return completed(budget, record);
  const isQuota = budget === spendQuotaExceeded;
  const name = isQuota ? 'The quota spend_usd_per_day' : `budget.${budget}`;
  const remedy = isQuota ? 'Raise it, wait for the next day' : 'Raise it';
  const isGraph = record.spec.kind === 'graph';
  const fewer = isGraph ? 'give fewer tasks' : `list fewer evaluation ${unitOf(record.spec)}s`;
  // A call reserves the cost of the longest answer that it may get.
  const cheaper = isGraph || budget === 'max_minutes' ? `or ${fewer}` : `${fewer}, or lower policy.max_tokens`;
  const message = `${name} did not last until the baseline was evaluated. ${remedy}, ${cheaper}.`;
  return { status: 'failed', stoppedBy: budget, error: { code: budget, message, retryable: isQuota } };
}

/** An evaluation whose budget does not cover a call, which may come after the last result. */
function outOfMoney(spec: EvaluationSpec, record: EndRecord): JobOutcome {
  const { succeeded, failed } = record.counts;
  if (succeeded + failed === spec.seeds.length) return completed('completed', record);
  const message = `The rest of budget.max_cost_usd does not cover the next call, which reserves the cost of its longest answer. Raise it, list fewer ${unitOf(spec)}s, or lower policy.max_tokens.`;
  const error = { code: costBudgetExhausted, message, retryable: false };
  return { status: 'failed', stoppedBy: costBudgetExhausted, error };
}

function timedOut(spec: EvaluationSpec): JobOutcome {
  const { seeds, timeoutS } = spec;
  const message = `The evaluation of ${counted(seeds.length, unitOf(spec))} did not finish within its timeout of ${timeoutS} s.`;
  return { status: 'failed', stoppedBy: 'timeout', error: { code: 'timeout', message, retryable: false } };
}
