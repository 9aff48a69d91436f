import type { z } from 'zod';
import { bestView, outcomeView } from '../../candidates/routes/search-view.js';
import { candidateId } from '../../core/jobs/ids.js';
import { iso, isoOrNull, keyView, stuckView } from '../../jobs/routes/view.js';
import type { EvaluationHead, GraphHead, JobRow, ListedJob, SessionHead, JobHead } from '../../jobs/store/jobs.js';
import type { runSchema } from '../contract/run.js';
import type { ListedRun } from '../store/runs.js';

type Run = z.output<typeof runSchema>;
type OfKind = Pick<
  Run,
  | 'algorithm'
  | 'models'
  | 'scorer'
  | 'baseline_reward'
  | 'best_reward'
  | 'best_is_baseline'
  | 'verdict'
  | 'comparison'
  | 'progress'
>;

/** A run in a list. */
export function runView(row: ListedRun, job: ListedJob<JobHead>, totalCostUsd: number | null): Run {
  const rows = 'rows' in job.spec ? job.spec.rows : undefined;
  return {
    job_id: job.jobId,
    kind: job.kind as Run['kind'],
    parent_id: row.parentId,
    name: job.name,
    tags: job.tags,
    archived: job.archived,
    status: job.status,
    stuck: stuckView(job.stuck),
    dataset: rows ? { dataset_id: rows.datasetId, name: row.datasetName, num_rows: rows.numRows } : null,
    ...ofKind(job),
    comparable_key: row.comparableKey,
    total_cost_usd: totalCostUsd,
    rollouts: job.rolloutsCompleted,
    prompt_tokens: row.promptTokens,
    created_at: iso(job.createdAt),
    ended_at: isoOrNull(job.completedAt),
    created_by: keyView(job.createdBy),
    last_result_at: isoOrNull(row.lastResultAt),
  };
}

function ofKind(job: ListedJob<JobHead>): OfKind {
  if (job.kind === 'evaluation') return evaluationView(job as ListedJob<EvaluationHead>);
  return job.kind === 'graph' ? graphView(job as JobRow<GraphHead>) : sessionView(job as JobRow<SessionHead>);
}

function evaluationView({ spec, meanReward, numSeeds, rolloutsCompleted }: ListedJob<EvaluationHead>): OfKind {
  return {
    algorithm: null,
    models: [modelOf(spec.policy)],
    scorer: spec.rows?.scorer.type ?? null,
    baseline_reward: null,
    best_reward: meanReward,
    best_is_baseline: null,
    verdict: null,
    comparison: null,
    progress: { done: rolloutsCompleted, total: numSeeds },
  };
}

function sessionView(job: JobRow<SessionHead>): OfKind {
  const { policy, rows } = job.spec;
  return { ...searchView(job), models: [modelOf(policy)], scorer: rows?.scorer.type ?? null };
}

function graphView(job: JobRow<GraphHead>): OfKind {
  const { policies, verifier } = job.spec;
  return { ...searchView(job), models: policies.map(modelOf), scorer: verifier.type };
}

function searchView(job: JobRow<SessionHead> | JobRow<GraphHead>) {
  const { verdict, comparison } = outcomeView(job);
  const { algorithm, maxRollouts } = job.spec.search;
  const { history: [first] = [], bestCandidateId: best = null } = job.projection;
  return {
    algorithm,
    baseline_reward: first?.generation === 0 ? first.bestReward : null,
    best_reward: bestView(job).best_reward,
    best_is_baseline: best === null ? null : best === candidateId(job.jobId, 0),
    verdict,
    comparison,
    progress: { done: job.rolloutsCompleted, total: maxRollouts },
  };
}

const modelOf = ({ provider, model }: { provider: string; model: string }) => `${provider}/${model}`;
