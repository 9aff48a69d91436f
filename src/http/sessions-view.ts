import type { z } from 'zod';
import type {
  candidateSchema,
  sessionHistorySchema,
  sessionPromptSchema,
  sessionResultsSchema,
  sessionSchema,
  sessionSummarySchema,
} from '../contracts/session.js';
import type { Message } from '../contracts/spec.js';
import { candidateId } from '../core/ids.js';
import type { CostBudget } from '../storage/cost-budget.js';
import type { ComponentLever } from '../storage/levers.js';
import type { Usage } from '../storage/usage.js';
import type { JobRow, SessionHead } from '../storage/jobs.js';
import type { CandidateRow, Prompt } from '../storage/reads.js';
import type { TrafficNow } from '../storage/slots.js';
import type { HttpDeps } from './deps.js';
import { concurrencyView, jobView, usageView, type Concurrency } from './job-view.js';

type Session = JobRow<SessionHead>;
type Candidate = z.output<typeof candidateSchema>;

/** The proxy URLs of a session. */
export function proxyUrls(jobId: string, publicUrl: string) {
  const base = `${publicUrl}/api/gepa/v1/${jobId}`;
  return { proxy_url: base, online_url: base, chat_completions_url: `${base}/chat/completions` };
}

/** A session in a list. */
export function sessionSummary(job: Session, deps: HttpDeps): z.output<typeof sessionSummarySchema> {
  const { projection: seen, spec } = job;
  const bestReward = seen.bestReward ?? null;
  return {
    session_id: job.jobId,
    ...jobView(job, deps),
    algorithm: spec.algorithm,
    correlation_id: job.correlationId,
    container_url: spec.container?.url ?? null,
    policy: { model: spec.policy.model, provider: spec.policy.provider },
    progress: {
      generation: seen.generation ?? 0,
      total_generations: seen.totalGenerations ?? spec.gepa.generations,
      best_reward: bestReward,
      rollouts_completed: seen.rolloutsCompleted ?? 0,
      max_rollouts: spec.budget.maxRollouts,
    },
    best_reward: bestReward,
    best_candidate: seen.bestCandidateId ? { candidate_id: seen.bestCandidateId } : null,
  };
}

/** A session's live state. */
export function sessionView(
  job: Session,
  read: {
    candidates: CandidateRow[];
    components: ComponentLever[];
    usage: Usage;
    resent: number;
    cost: CostBudget | null;
    concurrency: Concurrency;
    traffic: TrafficNow;
  },
  deps: HttpDeps,
): z.output<typeof sessionSchema> {
  const candidates = read.candidates.map(candidateView);
  return {
    ...sessionSummary(job, deps),
    best_candidate: best(job, candidates),
    candidates,
    ...estimateView(job),
    ...levers(job, candidates, read.components),
    usage: usageView(read.usage),
    concurrency: concurrencyView(job, read.concurrency),
    traffic: job.spec.rollouts === 'caller' ? trafficView(read.traffic) : null,
    budget: budgetView(job, read.cost),
    rollouts_resent: read.resent,
  };
}

function trafficView({ traffic, wanted, claimed }: TrafficNow) {
  return { compared: traffic, wanted, claimed };
}

function budgetView({ spec: { budget } }: Session, cost: CostBudget | null): z.output<typeof sessionSchema>['budget'] {
  return {
    max_rollouts: budget.maxRollouts,
    max_minutes: budget.maxMinutes ?? null,
    max_cost_usd: cost?.maxUsd ?? null,
    spent_usd: cost?.spentUsd ?? null,
    reserved_usd: cost?.reservedUsd ?? null,
  };
}

function estimateView({ projection: { estimate } }: Session) {
  return {
    estimated_reward: estimate?.reward ?? null,
    estimated_reward_interval: estimate ? { low: estimate.low, high: estimate.high } : null,
    estimated_candidate_id: estimate?.candidateId ?? null,
  };
}

function outcomeView({ projection: { verdict, noise, evaluationRollouts } }: Session) {
  return {
    verdict: verdict?.verdict ?? null,
    comparison: verdict
      ? {
          basis: verdict.basis,
          seeds: verdict.seeds,
          baseline_reward: verdict.baseline,
          winner_reward: verdict.winner,
          difference: verdict.difference,
          interval: { low: verdict.low, high: verdict.high },
        }
      : null,
    noise_floor: noise
      ? {
          rollout_sd: noise.sd,
          comparisons: noise.comparisons,
          reward_se: noise.sd / Math.sqrt(evaluationRollouts ?? 1),
        }
      : null,
  };
}

/** What a session has found so far. */
export function sessionResults(
  job: Session,
  read: { candidates: CandidateRow[]; components: ComponentLever[]; usage: Usage; prompt: Prompt | null },
): z.output<typeof sessionResultsSchema> {
  const candidates = read.candidates.map(candidateView);
  const bestReward = job.projection.bestReward ?? null;
  return {
    ...sessionHistory(job),
    status: job.status,
    best_reward: bestReward,
    best_candidate: best(job, candidates),
    best_prompt: read.prompt?.messages ? { messages: read.prompt.messages, reward: bestReward } : null,
    stopped_by: job.stoppedBy,
    error: job.errorDetails?.message ?? null,
    ...outcomeView(job),
    usage: usageView(read.usage),
    ...levers(job, candidates, read.components),
  };
}

/** The best reward after each generation. */
export function sessionHistory(job: Session): z.output<typeof sessionHistorySchema> {
  const history = job.projection.history ?? [];
  return {
    session_id: job.jobId,
    job_id: job.jobId,
    history: history.map(({ generation, bestReward }) => ({ generation, best_reward: bestReward })),
  };
}

/** Where a session's inference goes and which prompt it gets there. */
export function promptView(
  job: Session,
  prompt: { candidateId: string | null; messages: Message[] | null } | null,
  { publicUrl }: HttpDeps,
): z.output<typeof sessionPromptSchema> {
  const urls = proxyUrls(job.jobId, publicUrl);
  return {
    session_id: job.jobId,
    job_id: job.jobId,
    ...urls,
    correlation_url_template: `${urls.proxy_url}/{correlation_id}/chat/completions`,
    candidate_id: prompt?.candidateId ?? null,
    messages: prompt?.messages ?? [],
  };
}

/** A candidate as every answer shows it. */
export function candidateView(row: CandidateRow): Candidate {
  return {
    candidate_id: row.id,
    parent_ids: row.parentIds,
    generation: row.generation,
    status: row.status,
    reward: row.reward,
    avg_reward: row.avgReward,
    rollout_count: row.rolloutCount,
    is_baseline: row.leverVersion === 0,
    lever_version: row.leverVersion,
  };
}

function best({ projection }: Session, candidates: Candidate[]): Candidate | null {
  return candidates.find(({ candidate_id }) => candidate_id === projection.bestCandidateId) ?? null;
}

/** The candidate whose levers a session shows: its best, and its baseline until there is one. */
export function shownCandidate({ jobId, projection }: Session): string {
  return projection.bestCandidateId ?? candidateId(jobId, 0);
}

/** The lever of the prompt as a whole, of which each candidate is a version, and one for each component where there are several. */
function levers(job: Session, candidates: Candidate[], components: ComponentLever[]) {
  const lever = leverId(job.jobId, 'system');
  const winner = best(job, candidates);
  const baseline = candidates.find((candidate) => candidate.is_baseline);
  const versions = components.map(({ name, version }) => [componentLeverId(job.jobId, name), version]);
  return {
    lever_summary: {
      prompt_lever_id: lever,
      candidate_lever_versions: Object.fromEntries(candidates.map((c) => [c.candidate_id, c.lever_version])),
      best_candidate_id: winner?.candidate_id ?? null,
      selected_candidate_id: winner?.candidate_id ?? null,
      baseline_candidate_id: baseline?.candidate_id ?? null,
      lever_count: 1 + components.length,
      mutation_count: candidates.length - (baseline ? 1 : 0),
      latest_version: candidates.at(-1)?.lever_version ?? null,
    },
    lever_versions: winner
      ? { [lever]: winner.lever_version, ...(Object.fromEntries(versions) as Record<string, number>) }
      : {},
    best_lever_version: winner?.lever_version ?? null,
  };
}

function leverId(jobId: string, name: string): string {
  return `lever_${jobId.slice(4)}_${name}`;
}

/** The id that a component called `system` would have is the whole prompt's; no name begins with an underscore. */
function componentLeverId(jobId: string, name: string): string {
  return leverId(jobId, name === 'system' ? '_system' : name);
}
