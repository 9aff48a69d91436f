import { plus } from '../../util/sums.js';
import type { z } from 'zod';
import type { concurrencySchema, jobFields, keyView as keySchema, usageSchema } from '../../contracts/common.js';
import type { phaseSchema } from '../../contracts/phase.js';
import type { costBudgetSchema } from '../../contracts/search.js';
import type { rowsViewSchema } from '../../datasets/contract/rows.js';
import { stopAdvice } from '../../core/jobs/endings.js';
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import { unitOf, type UnitSource } from '../../core/jobs/unit.js';
import type { TaskRows } from '../../core/jobs/spec.js';
import type { JobPhase } from '../../core/jobs/phase.js';
import { isTerminal } from '../../core/jobs/status.js';
import type { readConcurrency } from '../store/concurrency.js';
import type { CostBudget } from '../store/cost-budget.js';
import type { Usage } from '../store/usage.js';
import type { LastCommand } from '../store/commands.js';
import type { JobOrigin, JobRow } from '../store/jobs.js';
import type { NamedKey } from '../store/named-keys.js';
import type { Stuck } from '../store/stuck.js';
import type { HttpDeps } from '../../platform/http/deps.js';
import { webhookView } from './webhooks.js';

export type Concurrency = Awaited<ReturnType<typeof readConcurrency>>;

export const iso = (date: Date): string => date.toISOString();
export const isoOrNull = (date: Date | null): string | null => date?.toISOString() ?? null;

import { rolloutWarnings } from './warnings.js';

type JobView = { [Field in keyof typeof jobFields]: z.output<(typeof jobFields)[Field]> };

/** A key that created a job or made a change. */
export const keyView = (key: NamedKey): z.output<typeof keySchema> =>
  key && { key_id: key.keyId, key_name: key.keyName };

/** The job that a clone was made from. */
export const originView = (origin: JobOrigin | null): JobView['branched_from'] =>
  origin && { job_id: origin.jobId, candidate_id: origin.candidateId };

/** Fields of every job. */
export function jobView(job: JobRow<UnitSource>, { temporalUrl }: Pick<HttpDeps, 'temporalUrl'>): JobView {
  return {
    job_id: job.jobId,
    name: job.name,
    tags: job.tags,
    metadata: job.metadata,
    notes: job.notes,
    archived: job.archived,
    created_by: keyView(job.createdBy),
    branched_from: originView(job.branchedFrom),
    status: job.status,
    last_command: commandView(job.lastCommand),
    workflow_id: job.workflowId,
    temporal_url: temporalUrl(job.workflowId),
    created_at: iso(job.createdAt),
    started_at: isoOrNull(job.startedAt),
    completed_at: isoOrNull(job.completedAt),
    error: job.errorDetails?.message ?? null,
    error_details: job.errorDetails,
    stopped_by: job.stoppedBy,
    stuck: stuckView(job.stuck),
    warnings: [...job.warnings, ...rolloutWarnings(job), ...[stopAdvice(unitOf(job.spec), job.stoppedBy) ?? []].flat()],
    webhook: webhookView(job.webhook),
  };
}

/** The last pause, resume or cancel of a job. */
export function commandView(last: LastCommand | null): JobView['last_command'] {
  return last && { command: last.command, by: keyView(last.key), at: iso(new Date(last.at)) };
}

/** Why a job makes no progress. */
export function stuckView(stuck: Stuck | null): JobView['stuck'] {
  return stuck && { ...stuck, since: iso(new Date(stuck.since)) };
}

/** The phase of a job; null once it has ended. */
export function phaseView({ status }: Pick<JobRow, 'status'>, phase: JobPhase | null): z.output<typeof phaseSchema> {
  if (phase === null || isTerminal(status)) return null;
  const { meanReward, ...counts } = phase;
  return { ...counts, mean_reward: meanReward };
}

/** A job's concurrency. */
export function concurrencyView({ spec }: JobRow, now: Concurrency): z.output<typeof concurrencySchema> {
  const { maxConcurrent } = spec;
  const limit = Math.min(now.limit ?? maxConcurrent, maxConcurrent);
  return { limit, max_concurrent: maxConcurrent, in_flight: now.inFlight, lowered_because: now.reason };
}

/** A job's usage. */
export function usageView(usage: Usage): z.output<typeof usageSchema> {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: plus(usage.promptTokens, usage.completionTokens),
    total_cost_usd: usage.totalCostUsd,
    cost_source: usage.costSource,
    calls: usage.calls,
    cached_calls: usage.cached,
    cache_hit_rate: usage.answered === 0 ? null : usage.cached / usage.answered,
  };
}

/** A job's budget of money; null: it has none. */
export function costBudgetView(cost: CostBudget | null): z.output<typeof costBudgetSchema> {
  return {
    max_cost_usd: cost?.maxUsd ?? null,
    spent_usd: cost?.spentUsd ?? null,
    reserved_usd: cost?.reservedUsd ?? null,
  };
}

/** Both id fields of sessions and graph jobs; evaluations have only `job_id`. */
export function idFields(jobId: string): { session_id?: string; graph_gen_job_id?: string; job_id: string } {
  const kind = kindOf(jobId);
  const idField = kind && jobKinds[kind].idField;
  return {
    ...(idField && { [idField]: jobId }),
    job_id: jobId,
  };
}

/** The field `dataset` of a job on a data set with a name, or null. */
export function rowsView(
  rows: (Pick<TaskRows, 'datasetId' | 'numRows'> & { scorer: { type: string } }) | undefined,
  name: string | null,
): { dataset?: NonNullable<z.output<typeof rowsViewSchema>> } {
  if (!rows) return {};
  const { datasetId, numRows, scorer } = rows;
  return { dataset: { dataset_id: datasetId, name, num_rows: numRows, scorer: scorer.type } };
}
