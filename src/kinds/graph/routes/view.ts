import type { z } from 'zod';
import type { graphJobSchema, graphJobListItemSchema, weighedSchema } from '../contract/job.js';
import type { CostBudget } from '../../../jobs/store/cost-budget.js';
import type { GraphHead, JobRow } from '../../../jobs/store/jobs.js';
import type { CandidateRow } from '../../../candidates/store/reads.js';
import type { Usage } from '../../../jobs/store/usage.js';
import type { SeedSplit } from '../../../core/search/split.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { concurrencyView, jobView, rowsView, usageView, type Concurrency } from '../../../jobs/routes/view.js';
import { best, candidateView } from '../../../candidates/routes/view.js';
import {
  bestView,
  budgetView,
  estimateView,
  historyView,
  outcomeView,
  searchPhaseView,
} from '../../../candidates/routes/search-view.js';

type GraphJob = JobRow<GraphHead>;

/** Both id fields of a graph job. */
export const graphIds = (jobId: string) => ({ job_id: jobId, graph_gen_job_id: jobId });

/** A graph job in a list. */
export function graphListItem(
  job: GraphJob,
  totalCostUsd: number | null,
  deps: HttpDeps,
): z.output<typeof graphJobListItemSchema> {
  const { estimated_reward } = estimateView(job);
  return { ...graphSummary(job, deps), estimated_reward, total_cost_usd: totalCostUsd };
}

/** Fields of both views. */
function graphSummary(job: GraphJob, deps: HttpDeps) {
  const { projection: seen, spec } = job;
  const measured = bestView(job);
  return {
    ...graphIds(job.jobId),
    ...jobView(job, deps),
    algorithm: spec.search.algorithm,
    policy: { model: spec.policy.model, provider: spec.policy.provider },
    policy_models: spec.policies.map(({ model }) => model),
    verifier_mode: spec.verifier.type,
    num_tasks: spec.numTasks,
    ...rowsView(spec.rows && { ...spec.rows, scorer: spec.verifier }, job.datasetName),
    progress: {
      generation: seen.generation ?? 0,
      total_generations: seen.totalGenerations ?? spec.search.generations,
      best_reward: measured.best_reward,
      rollouts_completed: job.rolloutsCompleted,
      max_rollouts: spec.search.maxRollouts,
      phase: searchPhaseView(job),
    },
    ...measured,
    best_candidate: seen.bestCandidateId ? { candidate_id: seen.bestCandidateId } : null,
  };
}

export function graphView(
  job: GraphJob,
  read: {
    candidates: CandidateRow[];
    pareto: z.output<typeof weighedSchema>[];
    usage: Usage;
    resent: number;
    cost: CostBudget | null;
    concurrency: Concurrency;
    split: SeedSplit;
    found: Pick<z.output<typeof graphJobSchema>, 'diagnosis' | 'proposals'>;
  },
  deps: HttpDeps,
): z.output<typeof graphJobSchema> {
  const candidates = read.candidates.map(candidateView);
  return {
    ...graphSummary(job, deps),
    best_candidate: best(job, candidates),
    candidates,
    pareto: read.pareto,
    history: historyView(job),
    ...estimateView(job),
    ...read.found,
    ...outcomeView(job),
    usage: usageView(read.usage),
    concurrency: concurrencyView(job, read.concurrency),
    budget: budgetView(job, read.cost),
    split: read.split,
    rollouts_resent: read.resent,
  };
}
