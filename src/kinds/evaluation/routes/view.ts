import type { z } from 'zod';
import type {
  evaluationListItemSchema,
  evaluationResultsSchema,
  evaluationSchema,
  evaluationSummarySchema,
} from '../contract/evaluation.js';
import type { RowGroup } from '../../../core/rows/groups.js';
import type { CostBudget } from '../../../jobs/store/cost-budget.js';
import type { Usage } from '../../../jobs/store/usage.js';
import type { EvaluationHead, JobRow, ListedJob } from '../../../jobs/store/jobs.js';
import { intervalOfTotals, type RolloutTotals, type SeedResult } from '../../../rollouts/store/totals.js';
import type { SeedOutput } from '../../../rollouts/store/outputs.js';
import { reviewView } from '../../../rows/routes/review-view.js';
import type { Review } from '../../../reviews/store/reviews.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import type { JudgeAgreement } from '../../../jobs/routes/agreement.js';
import {
  concurrencyView,
  costBudgetView,
  isoOrNull,
  jobView,
  phaseView,
  rowsView,
  usageView,
  type Concurrency,
} from '../../../jobs/routes/view.js';

type Evaluation = JobRow<EvaluationHead>;

/** An evaluation in a list. */
export function evaluationListItem(
  job: ListedJob<EvaluationHead>,
  totalCostUsd: number | null,
  deps: HttpDeps,
): z.output<typeof evaluationListItemSchema> {
  const progress = progressView(job, job.rolloutsCompleted, job.meanReward);
  return { ...shared(job, deps), progress, mean_reward: job.meanReward, total_cost_usd: totalCostUsd };
}

function progressView(job: Evaluation, completed: number, meanReward: number | null) {
  const total = job.numSeeds;
  return { completed, total, phase: phaseView(job, { name: 'rows', done: completed, total, meanReward }) };
}

/** Fields of both views. */
function shared(job: Evaluation, deps: HttpDeps) {
  const { spec } = job;
  return {
    ...jobView(job, deps),
    app_id: spec.appId,
    env_name: spec.container?.envName ?? '',
    container_url: spec.container?.url ?? null,
    ...rowsView(spec.rows, job.datasetName),
    policy: { model: spec.policy.model, provider: spec.policy.provider },
    num_seeds: job.numSeeds,
  };
}

/** An evaluation's status; `results` only once completed, `summary` always. */
export function evaluationView(
  job: Evaluation,
  read: {
    totals: RolloutTotals;
    agreement: JudgeAgreement;
    found: Pick<z.output<typeof evaluationSchema>, 'diagnosis'>;
    usage: Usage;
    concurrency: Concurrency;
    cost: CostBudget | null;
  },
  deps: HttpDeps,
): z.output<typeof evaluationSchema> {
  const summary = summaryView(job, read.totals);
  const { mean_reward, mean_reward_interval, total_tokens, total_cost_usd } = summary;
  const { candidate } = job.spec;
  return {
    ...shared(job, deps),
    progress: progressView(job, read.totals.succeeded + read.totals.failed, read.totals.meanReward),
    ...(job.status === 'completed'
      ? { results: { mean_reward, mean_reward_interval, total_tokens, total_cost_usd } }
      : {}),
    summary,
    ...read.found,
    ...read.agreement,
    candidate: candidate && { session_id: candidate.sessionId, candidate_id: candidate.candidateId },
    usage: usageView(read.usage),
    concurrency: concurrencyView(job, read.concurrency),
    budget: costBudgetView(read.cost),
    rollouts_resent: read.totals.resent,
  };
}

/** An evaluation's results by seed; with outputs, `total`, `groups` and `reviews` are present. */
export function evaluationResults(
  job: Evaluation,
  read: {
    totals: RolloutTotals;
    agreement: JudgeAgreement;
    results: (SeedResult | SeedOutput)[];
    total?: number;
    groups?: ReadonlyMap<number, RowGroup>;
    reviews?: ReadonlyMap<string, Review[]>;
  },
  keyId: string | null,
): z.output<typeof evaluationResultsSchema> {
  return {
    job_id: job.jobId,
    status: job.status,
    summary: summaryView(job, read.totals),
    ...read.agreement,
    results: read.results.map((row) => ({
      seed: row.seed,
      status: row.status,
      reward: row.reward,
      latency_ms: row.latencyMs,
      tokens: row.tokens,
      cost_usd: row.costUsd,
      trace_id: row.rolloutId,
      error: row.error,
      completed_at: isoOrNull(row.completedAt),
      ...('outputTruncated' in row && {
        ...outputView(row as SeedOutput),
        group: read.groups?.get(row.seed),
        reviews: (read.reviews?.get(row.rolloutId) ?? []).map((review) => reviewView(review, keyId)),
      }),
    })),
    ...(read.total !== undefined && { total: read.total }),
  };
}

function outputView({ output, outputTruncated, feedback, input, expected }: SeedOutput) {
  return { output, output_truncated: outputTruncated, feedback, input, expected };
}

function summaryView(job: Evaluation, totals: RolloutTotals): z.output<typeof evaluationSummarySchema> {
  return {
    mean_reward: totals.meanReward,
    mean_reward_interval: intervalOfTotals(totals),
    total_tokens: totals.tokens,
    total_cost_usd: totals.costUsd,
    num_seeds: job.numSeeds,
    num_successful: totals.succeeded,
    num_failed: totals.failed,
  };
}
